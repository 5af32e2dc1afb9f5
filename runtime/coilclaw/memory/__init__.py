"""Conversations: what was said, asked for and answered, kept and found again."""
