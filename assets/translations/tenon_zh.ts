<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh" sourcelanguage="en">
 <context>
  <name>Tenon</name>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Chats that were exported as JSON, or conversations.json of ChatGPT's data export</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Close Tenon</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Export all chats...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Export chat...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>For models that are read from the disk: what the draft expects, in grey</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Help</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Import chats...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Inspector</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Jump to the latest message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Larger text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Mark accepted drafts</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Marks what a draft guessed and the model accepted, in finished replies</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Menu</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Messages</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Models</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Models and speed</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>New chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Rename chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Search chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/places_nav.py" />
   <source>Settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Settings...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Show guesses while they are unconfirmed</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Show or hide the chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/place_page.py" />
   <source>Show or hide the chats (Ctrl+B)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Smaller text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>This machine</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Undo</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Usual size of text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>View</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Write a message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>“{title}” is deleted.</source>
   <translation type="unfinished" />
  </message>
 </context>
</TS>
