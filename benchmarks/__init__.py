"""Budgets of speed as ratios within one run, and plans replayed on recorded weeks; printed, never asserted by time."""
