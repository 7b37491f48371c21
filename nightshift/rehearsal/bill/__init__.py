"""The bill of a rehearsal: metered from launches and ends, beside the forecast, differences explained."""
