"""Reading Markdown: the blocks of a text, the cells of a table's row, and what it says in one plain line."""
