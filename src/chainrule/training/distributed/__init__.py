"""One run in several processes: equal to one process, on torch.distributed alone."""
