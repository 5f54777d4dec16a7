"""Graphs: tables of nodes, edges and links; sets of graphs; the Planetoid files."""
