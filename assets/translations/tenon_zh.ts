<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh" sourcelanguage="en">
 <context>
  <name>Tenon</name>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A copy of all chats each day, beside them on this computer.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>A file of the model is damaged</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>A file with all that was changed, for another computer or to keep.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A mirror of the hub to search and download from; empty takes the hub itself.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A model that nothing was asked of for so long leaves the memory; the next message loads it again.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/done_notice.py" />
   <source>A reply could not be completed.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/done_notice.py" />
   <source>A reply is done.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A server that searches and downloads go through; empty takes the system's.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>A setting does not work here</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A small model that guesses words ahead for the large one; each model has its own.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>About Tenon</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Access token</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Adaptive fallback</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Advanced</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>All commands</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>All that fit</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>All words of the window.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Answer again</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Answer without the draft</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Appearance</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Apply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>As the system</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Asking how large it is...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Asks once a day whether there is a newer Tenon; nothing else is sent along.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Attach files...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Automatic</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Back to the usual</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Back to the usual: {value}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Begin a new line</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Branching drafts</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/foot.py" />
   <source>Changes to apply: {count}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chats and backups</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Chats that were exported as JSON, or conversations.json of ChatGPT's data export</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Check for updates</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Choose a mode</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Choose a model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Choose another file</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Choose another model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Chooses among the likeliest tokens that together are this probable; 1 takes all.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Chooses among this many of the likeliest tokens; 0 takes all.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/page_view.py" />
   <source>Chosen</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Chosen for</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Close</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Close Tenon</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Close the search</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Colours of the window.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Colours the words of finished replies that a draft guessed and the model accepted.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Comfortable</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Commands</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Compact</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Context length</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Continue the reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Copied</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Copy details</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Copy details of this installation</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy the last code block</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy the last reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy the last reply as plain text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Copy what is selected</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Daily backup</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Dark</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Delete the chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Depth of drafts</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Discard</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Downloads</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Draft ahead</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Draft below the threshold</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Draft model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Edit the last message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Error: {sentence}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Everywhere</source>
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
   <location filename="app/settings/pages.py" />
   <source>Export settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Export...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Fallback threshold</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetch {size}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching GPU support</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching, {done} of {total}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Find in this chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>For all models</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>For models that are read from the disk: what the draft expects next, in grey.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>For models that are read from the disk: what the draft expects, in grey</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>For models that ask for an account; it is kept in the system's keyring.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>For {model}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>Forget</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/formula_block.py" />
   <source>Formula</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Free the memory when idle</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>GPU memory budget</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>GPU support</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Go on</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Go on editing</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Go to the beginning</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Go to the end</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Go to the next field or button</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Go to the one before</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Help</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>How drafts grow</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How freely words are chosen: 0 always takes the likeliest.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How many branches of a draft grow at each step.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How many guessed tokens the model checks at once.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How many of the processor's cores compute.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How many tokens ahead a draft goes.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How much of the chat the model remembers, in tokens.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How replies are generated.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>How words are chosen</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Import chats...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Import settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Import...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>In memory</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>In the list of chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>In the messages</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/page_view.py" />
   <source>In use now</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>In use now: {value}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Inspector</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>It is PyTorch for this graphics card, in a folder of its own, and can be removed again.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Jump to the latest message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>Keep</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Keyboard shortcuts</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>LLMCad: drafts are trees of guesses and not single lines.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>LLMCad: the draft goes on below the threshold while a guess is worth its time.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>LLMCad: the draft goes on while the model's weights are read.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>LLMCad: the draft's confidence decides when the model checks it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>LLMCad: the model checks a draft once its best guess is less likely than this, to begin with.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Language</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Larger text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Layers on the GPU</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Leaves out tokens that are less likely than this share of the likeliest; 0 takes all.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>Left out, because their values are not allowed: {names}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Length of replies</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Licences</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Light</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Limits</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Longest reply in tokens.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Look again</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Look up its size</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Looking at the graphics card...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Looking whether it works here...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Makes words that were used already less likely; 1 leaves them as they are.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mark accepted drafts</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Marks what a draft guessed and the model accepted, in finished replies</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Memory</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Memory budget</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>Memory: {parts}</source>
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
   <location filename="app/settings/settings.py" />
   <source>Min p</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mirror</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mode</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Model's own</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Models</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Models and speed</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most layers of the model in the GPU's memory; more is faster until it is full.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most memory that the engine takes; weights beyond it are read from the disk again and again.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most of the GPU's memory that the engine takes; 0 leaves the GPU alone.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Network</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Never</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>New chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>New each time</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Next chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Next place</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/find_in_chat.py" />
   <source>Next place found</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Next version of the reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>No command has these letters.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>No limit</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/page_stack.py" />
   <source>No setting was found: try another word, or choose another page.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/value_words.py" />
   <source>None</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Not possible now</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Nothing found</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Nothing was asked for a while, so its memory is free; the next message loads it again.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Number format of the weights in memory; fewer bits are smaller and faster, and less exact.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/value_words.py" />
   <source>Off</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/value_words.py" />
   <source>On</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>On this computer</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Open data folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Open folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Open log folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open models</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Open the chat or the message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open the data folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/page_list.py" />
   <source>Pages of settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Part of the model is missing</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Pause</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Paused. What has come stays on the disk.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Precision of the weights</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Press the button</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Previous chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Previous place</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/find_in_chat.py" />
   <source>Previous place found</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Previous version of the reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Privacy and data</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Processor threads</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Proxy</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Reload with a smaller context</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Remove, frees {size}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Removing...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Rename chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Repetition penalty</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Replies</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Reset {setting}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Residual speculative sampling</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Residual speculative sampling, siblings with replacement</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Room between rows and between messages.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/power_watch.py" />
   <source>Running on battery: replies may be slower.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Runs language models on this computer. Nothing you write leaves it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Sample and match</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Scroll by a page</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Scroll the messages by a page</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Search all settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Search chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Search commands</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Seed</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Select the whole message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Send</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>Settings (*.json)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Settings shown</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Settings...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Show details</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
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
   <location filename="app/settings/pages.py" />
   <source>Shows what a file would change; Apply takes it over.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Simple</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Size of text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Smaller text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Some changes are not applied yet.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/gpu_addon.py" />
   <source>Something unexpected went wrong with GPU support: try again, or look into the log.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Something went wrong</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Spacing</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Speed</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Speed and memory</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Stop the reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Stop the reply, or leave another page</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>System prompt</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>Technical details</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Tell when a reply is done</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Temperature</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon cannot run this model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon did not end as it should last time</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon made a mistake</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/uncaught.py" />
   <source>Tenon made a mistake and goes on: restart it if something looks wrong, and report the details.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Tenon opens model folders, GGUF files and exported chats, not {name}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>Tenon {size} GB</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Tenon {version}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The access token cannot be kept</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>The code is copied.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/power_watch.py" />
   <source>The computer is hot: replies may be slower until it has cooled down.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>The context has {tokens} tokens from now on.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>The details of this installation are copied.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The download is not what it should be</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The draft does not fit the model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/sleep_watch.py" />
   <source>The engine did not go on after the computer slept, so it was ended. Your chats are safe; it starts again with your next message.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The engine stopped</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>The file says what is in force already.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The file was not imported</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub cannot be reached</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub did not give what was asked for</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub does not have it</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub gives no access</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub is busy</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The message is longer than the context</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model cannot be read</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model cannot be used</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model could not be read from the disk</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model does not match its description</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>The model is loaded again, which took {seconds} s the last time.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model is not there</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model's tokenizer cannot be read</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/reply.py" />
   <source>The reply failed.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The reply was cut off</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The reply was stopped</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>The same seed gives the same reply to the same chat.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>The settings in force are saved as {file}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/folders.py" />
   <source>The system could not open it. The folder is {folder}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Theme</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>There is a token.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/settings_desk.py" />
   <source>There is no GPU that Tenon can use here.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>There is no telemetry. Your chats, settings and models stay on this computer, and nothing about you or it is sent to anybody. The network is used when you search the hub or download a model, and to check for updates if you turn that on.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>There is no token.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is not enough memory</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is not enough room on the disk</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is nothing to answer</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>This cannot be done</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>This installation</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>This machine</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>This system does not show folders: {folder}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>This takes effect when Tenon is opened again.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Tokens checked at once</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Top k</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Top p</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Try again</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Try again as it was</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Typical acceptance (lossy)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Undo</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/foot.py" />
   <source>Undo changes</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Unpacking, {done} of {total}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Usual</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Usual size of text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Verification</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Versions, system and hardware, for a report</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>View</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Waiting to go on, {done} of {total}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>What do you want to do?</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>What happened</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>What is free</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>What leaves this computer</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>What the model is told before each conversation, as its role or how it should write.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>What was written so far is kept.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>When a long reply is complete while the window is in the background.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Where downloaded models lie.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Where they lie on this computer.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Where you search for words in a chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Where you type a message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Which guesses of a draft the model accepts; the lossy rule accepts more and changes what replies say.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Width of drafts</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Window</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Words of the window, from the next start on.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Write a message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Writing style</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>You are a helpful assistant.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Your chats are from a newer Tenon</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Your chats are safe. What is known of it can be looked at and reported.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Your chats cannot be saved</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Your message is kept.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>at rest</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>free {size} GB</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/offers.py" />
   <source>measured {speed}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>min</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>missing {size} GB</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>no chat text included</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>other programs {size} GB</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/offers.py" />
   <source>predicted {speed}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>stated in its own files</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>{folder} is not there yet: nothing was put into it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>{model} has a value of its own: {value}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>{number} of {total}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>{title}: {size} to fetch from {address}, {unpacked} on the disk</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>“{title}” is deleted.</source>
   <translation type="unfinished" />
  </message>
 </context>
</TS>
