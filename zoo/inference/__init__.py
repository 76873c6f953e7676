"""Using a trained model: sampling and generation."""
