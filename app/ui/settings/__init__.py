"""The dialog of settings: pages of rows, made from the settings themselves."""
