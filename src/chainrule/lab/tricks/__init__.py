"""Chapter 8, tricks of the trade: starts, decay, dropout, normalisation, teachers, ensembles."""
