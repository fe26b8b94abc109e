"""A small data-parallel program; DIE=1 lets rank 1 leave in the middle with code 3, WAIT=1 never ends it."""

import hashlib
import os
import time

import numpy as np
import paddle
import paddle.distributed as dist

STEPS = 30


def main() -> None:
    dist.init_parallel_env()
    rank, world = dist.get_rank(), dist.get_world_size()
    print(f"world {world}", flush=True)
    paddle.seed(7)
    model = paddle.nn.Linear(8, 1)
    net = paddle.DataParallel(model) if world > 1 else model
    optimizer = paddle.optimizer.SGD(0.05, parameters=model.parameters())
    rng = np.random.default_rng(rank)
    target = np.linspace(-1, 1, 8).astype("float32")[:, None]
    for step in range(1, STEPS + 1):
        x = rng.standard_normal((16, 8)).astype("float32")
        loss = ((net(paddle.to_tensor(x)) - paddle.to_tensor(x @ target)) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        print(f"step {step}/{STEPS} loss {float(loss):.4f}", flush=True)
        while os.getenv("WAIT"):
            time.sleep(1)
        if os.getenv("DIE") and rank == 1 and step == STEPS // 2:
            print("rank 1 dies on purpose", flush=True)
            os._exit(3)
    weights = b"".join(one.numpy().tobytes() for one in model.parameters())
    print(f"weights {hashlib.sha256(weights).hexdigest()}", flush=True)
    print(f"rank {rank} finished", flush=True)


if __name__ == "__main__":
    main()
