"""Text as token ids: vocabularies, WordPiece, encoders, documents."""
