"""The one way in which access can be configured wrongly.

The message is all a person sees: the file, what is wrong in it, and the way out.
"""


class AccessError(Exception):
    pass
