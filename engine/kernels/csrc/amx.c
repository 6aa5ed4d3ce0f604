#error later
