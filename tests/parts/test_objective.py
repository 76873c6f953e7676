"""Where a prefix ends, and which predictions after it are scored."""


from zoo.data.special import Special

SPECIAL = Special.after(13)
