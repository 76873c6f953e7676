"""What the commands do: from a composed config to a trained run folder, and from a run folder to scores."""
