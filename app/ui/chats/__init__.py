"""Actions on whole chats: open and delete, folders, files, and erasing everything."""
