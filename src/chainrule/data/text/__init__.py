"""Text as numbers: vocabularies, word pieces, encoders, documents."""
