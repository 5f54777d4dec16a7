"""Pictures: folders, masks, photos, and the bytes of MNIST."""
