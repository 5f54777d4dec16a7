"""Chapter 8, tricks of the trade: starts, decay, dropout, normalization, teachers, ensembles."""
