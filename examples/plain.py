"""A plain training script: runs alone or under torchrun, and loses everything when its node goes."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

EPOCHS = 3
BATCH = 64


class Digits(Dataset[tuple[torch.Tensor, int]]):
    """Ten noisy patterns to tell apart."""

    def __len__(self) -> int:
        return 2000

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        pattern = torch.randn(64, generator=torch.Generator().manual_seed(index % 10))
        return pattern + torch.randn(64), index % 10


def main() -> None:
    device = torch.device("cuda", int(os.getenv("LOCAL_RANK", "0"))) if torch.cuda.is_available() else "cpu"
    if "RANK" in os.environ:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    world = dist.get_world_size() if dist.is_initialized() else 1
    torch.manual_seed(0)
    model: torch.nn.Module = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(128, 10)
    ).to(device)
    if dist.is_initialized():
        model = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 50, gamma=0.5)
    sampler = DistributedSampler(Digits()) if dist.is_initialized() else None
    loader = DataLoader(Digits(), batch_size=BATCH // world, sampler=sampler, shuffle=sampler is None)

    for epoch in range(EPOCHS):
        if sampler:
            sampler.set_epoch(epoch)
        for inputs, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(inputs.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
