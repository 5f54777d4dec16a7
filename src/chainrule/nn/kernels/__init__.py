"""Kernels: forward and backward passes written out where that is faster than autograd's."""
