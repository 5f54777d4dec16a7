"""Chapter 8, tricks of the trade: recipes."""
