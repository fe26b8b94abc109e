"""What should exist, from (job, what was observed, now): objects, status, the next look.

Pure: values in, values out. Nothing here waits, talks, reads a clock or keeps anything in mind.
"""
