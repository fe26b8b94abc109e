"""Wide & deep on parameter servers: who clicks on what?

Every member runs this file and learns its role from the environment. Servers hold the embedding table;
workers read batches, pull the rows they need, and push gradients. The data is made here, and can be learned:
a hidden taste of each user and a hidden quality of each item decide, with the dense features, whether it is
clicked.
"""

import os

import numpy as np
import paddle
from paddle.distributed import fleet

STEPS = int(os.getenv("STEPS", "2000"))
BATCH = int(os.getenv("BATCH", "64"))
REPORT_EVERY = 50
USERS, ITEMS, DENSE, WIDTH = 200, 100, 4, 8


def build_net():
    """One embedding table for both kinds of ids, a deep tower over it, a wide part beside it."""
    dense = paddle.static.data("dense", [None, DENSE], "float32")
    ids = [paddle.static.data(name, [None, 1], "int64") for name in ("user", "item")]
    label = paddle.static.data("label", [None, 1], "int64")
    table = paddle.ParamAttr(name="embedding", initializer=paddle.nn.initializer.Uniform(-0.1, 0.1))
    rows = [
        paddle.reshape(
            paddle.static.nn.sparse_embedding(one, size=[USERS + ITEMS, WIDTH], param_attr=table), [-1, WIDTH]
        )
        for one in ids
    ]
    deep = paddle.nn.functional.relu(paddle.static.nn.fc(paddle.concat([*rows, dense], axis=1), 32))
    wide = paddle.static.nn.fc(dense, 2, weight_attr=near_zero("wide"))
    logits = wide + paddle.static.nn.fc(deep, 2, weight_attr=near_zero("deep"))
    return paddle.mean(paddle.nn.functional.cross_entropy(logits, label))


def near_zero(name):
    """The first loss is that of a coin then, ln 2, and whatever is below it was learned."""
    return paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Normal(0.0, 0.01))


class Clicks:
    """Batches of synthetic clicks. The world is the same for all workers; what each sees of it is its own."""

    def __init__(self, worker):
        world = np.random.default_rng(7)
        self.taste = world.normal(size=USERS)
        self.quality = world.normal(size=ITEMS)
        self.weights = world.normal(size=DENSE)
        self.rng = np.random.default_rng(100 + worker)

    def batch(self):
        user = self.rng.integers(0, USERS, BATCH)
        item = self.rng.integers(0, ITEMS, BATCH)
        dense = self.rng.normal(size=(BATCH, DENSE))
        score = 2 * (self.taste[user] + self.quality[item] + 0.25 * dense @ self.weights)
        return {
            "dense": dense.astype("float32"),
            "user": user[:, None].astype("int64"),
            "item": (item[:, None] + USERS).astype("int64"),
            "label": (score[:, None] > 0).astype("int64"),
        }


def train(loss):
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    clicks = Clicks(fleet.worker_index())
    recent = []
    for step in range(1, STEPS + 1):
        (value,) = exe.run(paddle.static.default_main_program(), feed=clicks.batch(), fetch_list=[loss.name])
        recent.append(float(np.asarray(value).reshape(-1)[0]))
        if step % REPORT_EVERY == 0 or step == STEPS:
            print(f"step {step}/{STEPS} loss {np.mean(recent):.4f}", flush=True)
            recent.clear()
    fleet.stop_worker()


def main():
    paddle.enable_static()
    fleet.init(fleet.PaddleCloudRoleMaker(is_collective=False))
    loss = build_net()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    fleet.distributed_optimizer(paddle.optimizer.Adam(0.05), strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        print("serving", flush=True)
        fleet.run_server()  # never returns: whoever runs the job stops the servers when the workers are done
    else:
        train(loss)


if __name__ == "__main__":
    main()
