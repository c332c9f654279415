"""Budgets of speed, measured as ratios in one run on one machine; printed, never asserted by time."""
