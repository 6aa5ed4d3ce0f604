<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>Tenon</name>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>% by position</source>
   <translation type="unfinished" />
  </message>
  <message numerus="yes">
   <location filename="app/bridge/archive.py" />
   <source>%n chat(s) were imported.</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>%n core(s)</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>%n layer(s)</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>%n of {all} core(s) usable</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>%n token(s)</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>0 is until the context is full. In Settings: {value}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A chat is called after its first line at once; the model can find a better title when it is done.</source>
   <translation type="unfinished" />
  </message>
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
   <location filename="app/chat/attachment.py" />
   <source>A message holds {most} files at most: send the others with the next one.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/json_file.py" />
   <source>A message in it has no content, or is nobody's.</source>
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
   <location filename="app/bridge/comparison.py" />
   <source>A reply is being written: compare the modes when it is done, or stop it first.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/done_notice.py" />
   <source>A reply is done.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/machine.py" />
   <source>A reply is running: measure when it is complete, or stop the reply first.</source>
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
   <location filename="app/chat/choices.py" />
   <source>A small draft model guesses a tree of tokens, the model checks it at once.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A small model that guesses words ahead for the large one; each model has its own.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>A system prompt of its own</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>About Tenon</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted: nothing was drafted</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted: {shares}</source>
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
  <message numerus="yes">
   <location filename="app/ui/comparison/dialog.py" />
   <source>After the %n message(s) before it in the chat.</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>All chats with their attachments, what is typed and not sent, folders, presets, the system prompt, the search index and every backup are erased from this computer. This cannot be undone.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>All chats, presets and backups on this computer, for good. Asked for once more.</source>
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
   <location filename="app/settings/settings.py" />
   <source>Always</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Another name for the preset</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>Another program is using the chats in {folder}: close it and send again.</source>
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
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Apply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/closing_question.py" />
   <source>Apply changes</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Archive</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Archive chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Archived</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>As in Settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>As many layers as fit run on the GPU, the rest in memory.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>As the system</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Ask a follow-up</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Ask anything</source>
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
   <location filename="app/ui/chat_page.py" />
   <source>Attach text files</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/bubble.py" />
   <source>Attached file {name}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Auto</source>
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
   <location filename="app/chat/choices.py" />
   <source>Built in</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Built in: answers questions about Tenon</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Cancel</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/foot.py" />
   <source>Changes to apply: {count}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Chat settings</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/opening.py" />
   <source>Chat settings...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Chats (*.json);;All files (*)</source>
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
   <location filename="app/ui/chat_page.py" />
   <source>Choose a draft's folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Choose a folder...</source>
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
   <location filename="app/ui/composer/mode_button.py" />
   <source>Choose how replies are generated</source>
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
   <location filename="app/settings/pages.py" />
   <source>Chooses the usual value of everything; Apply takes it over.</source>
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
   <location filename="app/ui/comparison/dialog.py" />
   <source>Close</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Close Tenon</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/toast.py" />
   <source>Close notice</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/head.py" />
   <source>Close the inspector</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/head.py" />
   <source>Close the inspector (F12)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Close the search</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Code</source>
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
   <location filename="app/ui/comparison/dialog.py" />
   <source>Compare</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Compare modes on this prompt...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Compare two modes</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/opening.py" />
   <source>Compare two modes...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Computes with {name}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>Context in use</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Context length</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Context to plan</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Continue</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Continue the reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Copied</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Copies what this page shows</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Copy</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Copy as plain text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Copy as text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Copy code</source>
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
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Copy message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Copy reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/table.py" />
   <source>Copy table</source>
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
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Delete</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Delete folder, keep its chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Delete message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Delete reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Delete the chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Delete “{name}”</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Depth of drafts</source>
   <translation type="unfinished" />
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>Different from token {number} on: the first %n token(s) are the same.</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/settings/closing_question.py" />
   <source>Discard changes</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Disk</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Disk in memory</source>
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
   <location filename="app/ui/inspector/inspector.py" />
   <source>Draft tree</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>Draft tree: {steps}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Draft...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Draft: {name}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Drafts</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Each layer is copied to the GPU when its turn comes.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Edit message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Edit the last message</source>
   <translation type="unfinished" />
  </message>
  <message numerus="yes">
   <location filename="app/ui/erase_dialog.py" />
   <source>Erase %n chat(s) for good?</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Erase everything</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/erasing.py" />
   <source>Erase everything...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Erase...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Error: {sentence}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Every figure is assumed: the speeds of this machine were never measured.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/erasing.py" />
   <source>Everything is erased.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Everywhere</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Except by the built-in guide</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Explain how a hash table works</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Export all chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Export all chats...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Export chat</source>
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
   <location filename="app/ui/comparison/dialog.py" />
   <source>First mode</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>First token</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>First token: after a prompt of {tokens} tokens.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Fold</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>For all models</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>For models larger than memory: a draft writes, the model is read from the disk to check.</source>
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
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>For the new chat alone. What is left open is as in Settings.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>For {model}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>For “{title}” alone. What is left open is as in Settings.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>Forget token</source>
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
   <location filename="app/ui/transcript/model_change.py" />
   <source>From here on: {model}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>GB, last 60 s</source>
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
   <location filename="app/chat/choices.py" />
   <source>Generates one token after the other.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Go on</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/closing_question.py" />
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
   <location filename="app/ui/machine/words.py" />
   <source>Graphics</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Guesses the next tokens from the text so far, checks several at once.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Hard disk</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Help</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Hide the thoughts</source>
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
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>How freely words are chosen: 0 takes the likeliest each time. In Settings: {value}.</source>
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
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>How often a guessed token held where the tokens before it did</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How replies are generated.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>How replies are generated. In Settings: {value}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>How words are chosen</source>
   <translation type="unfinished" />
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>Identical as far as both came, %n token(s).</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>Identical, %n token(s).</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Import chats</source>
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
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>In messages</source>
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
   <location filename="app/ui/inspector/head.py" />
   <source>Inspector</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Interrupted</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>It cannot be read ({reason}): check its rights.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/json_file.py" />
   <source>It comes from a newer Tenon: install that version to import it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>It is PyTorch for this graphics card, in a folder of its own, and can be removed again.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>It is larger than 1 GiB: export fewer chats.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/reading.py" />
   <source>It is no JSON, or is damaged.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>It is not UTF-8 text.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>JSON, to import again (*.json)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/jump_button.py" />
   <source>Jump to latest</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/jump_button.py" />
   <source>Jump to latest (Ctrl+End)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Jump to the latest message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>Keep token</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Keep, rename or delete a preset</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Keeps what the fields below say</source>
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
   <location filename="app/chat/choices.py" />
   <source>Layer offload</source>
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
   <location filename="app/ui/inspector/token_paint.py" />
   <source>Legend: {looks}</source>
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
   <location filename="app/ui/comparison/wording.py" />
   <source>Loading and reading the prompt</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Loading the model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Loading the model, {percent}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/model_in_engine.py" />
   <source>Loads when the running reply is complete.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/model_in_engine.py" />
   <source>Loads when this machine is measured.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Longest reply</source>
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
   <location filename="app/ui/machine/words.py" />
   <source>Looking which modes can run</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Lookup</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>MB/s, last 60 s</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Make folder</source>
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
   <location filename="app/ui/chat_files.py" />
   <source>Markdown, to read (*.md)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Marks what a draft guessed and the model accepted, in finished replies</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measure again</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Measure every mode</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measure speeds</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>Measured</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measured on {date}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measured today at {time}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measures processor, memory and disks anew, in some seconds</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Measuring</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measuring processor, memory and disk</source>
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
   <location filename="app/ui/empty_state.py" />
   <source>Merge two sorted lists in Python</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/composer/prompt_edit.py" />
   <source>Message</source>
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
   <location filename="app/ui/composer/mode_button.py" />
   <source>Mode: {mode}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>Model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Model to plan</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Model's own</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Model: {model}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Model: {model}, {state}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Model: {name}</source>
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
   <location filename="app/ui/erase_dialog.py" />
   <source>Models stay. Files that you have exported stay where you saved them.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/composer/mode_button.py" />
   <source>Modes</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Modes that need a draft cannot run</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Modes that need a draft take {draft}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>More for presets</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>More for this message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>More for this reply</source>
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
   <location filename="app/ui/chat_folders.py" />
   <source>Move chat to folder...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Move to folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_delegate.py" />
   <source>Name of the folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Name of the new folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Name of the new preset</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Needs a GPU, and the GPU memory budget of 0 leaves it alone.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Needs a GPU, and there is none that Tenon can use here.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Needs a draft: choose one in the menu of models.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Network</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Network disk</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Never</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/title.py" />
   <source>New chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>New chat (Ctrl+N)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>New chats start with this preset</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>New each time</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>New folder...</source>
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
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Next version</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Next version of the reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>No GPU that Tenon can use</source>
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
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>No model is in memory.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/page_stack.py" />
   <source>No setting was found: try another word, or choose another page.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>No step is chosen.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>No text.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>None</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Not found: {place}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Not possible now</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/choice_popup.py" />
   <source>Not possible: {reason}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Nothing found</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/sidebar.py" />
   <source>Nothing found.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>Nothing of this session is saved, so nothing can be imported: make room for it first.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Nothing was asked for a while, so its memory is free; the next message loads it again.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Nothing was drafted for this reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Now none</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Now {draft}</source>
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
   <location filename="app/ui/sidebar/age_groups.py" />
   <source>Older</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/value_words.py" />
   <source>On</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>On battery most computers are slower: plug it in to measure.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>On this computer</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/reading.py" />
   <source>Only files exported by Tenon and ChatGPT's conversations.json can be imported.</source>
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
   <location filename="app/ui/link_question.py" />
   <source>Open link</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Open log folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Open model folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Open model folder...</source>
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
   <location filename="app/ui/link_question.py" />
   <source>Open this link in your browser?</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Opens the inspector</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Out of the folder</source>
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
   <location filename="app/chat/choices.py" />
   <source>Partial offload</source>
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
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Pin</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Pinned</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Plain</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Plan</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>Plan for {model}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>Plan: {rows}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Precision of the weights</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Predicted from this machine's speeds and from replies of this model here.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Predicted from this machine's speeds.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Preset</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Press the button</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/age_groups.py" />
   <source>Previous 7 days</source>
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
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Previous version</source>
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
   <location filename="app/ui/machine/words.py" />
   <source>Processor</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Processor threads</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Prompt</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Prompt: {prompt}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Proxy</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>Put all settings back to their defaults, too</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>RAM, GB</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Reading the prompt</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Reading the prompt, {percent}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Reading the prompt, {share}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Reads {rate}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Reload with a smaller context</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/composer/attachment_row.py" />
   <source>Remove {name}</source>
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
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Rename</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Rename chat</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Rename folder</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Rename “{name}”...</source>
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
   <location filename="app/ui/transcript/reply.py" />
   <source>Reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Reset all</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Reset settings</source>
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
   <location filename="app/ui/chat_folders.py" />
   <source>Restore from the archive</source>
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
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Runs each usable mode on the same prompts. Speeds in tok/s.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Runs language models on this computer. Nothing you write leaves it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Runs on this computer. Replies can be wrong, so check what matters.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>SSD</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Sample and match</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save as new preset...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save in “{name}”</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Saved as {name}.</source>
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
   <location filename="app/ui/comparison/dialog.py" />
   <source>Second mode</source>
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
   <location filename="app/ui/composer/send_button.py" />
   <source>Send</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/composer/composer.py" />
   <source>Send (Enter)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_editor.py" />
   <source>Send it as a version of its own; the message before stays</source>
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
   <location filename="app/settings/settings_file.py" />
   <source>Settings cannot be saved in {folder} ({reason}): make it writable or free some space.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Settings shown</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>Settings with values that are not allowed were reset: {names}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Settings...</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Shares the computer's memory</source>
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
   <location filename="app/ui/header.py" />
   <source>Show or hide the chats (Ctrl+B)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>Show or hide the inspector (F12)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Show the thoughts</source>
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
   <location filename="app/ui/machine/words.py" />
   <source>Slow: Tenon's kernels are not there</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Smaller text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/closing_question.py" />
   <source>Some changes are not applied yet.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/background_writer.py" />
   <source>Something could not be saved: restart Tenon, please.</source>
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
   <location filename="app/ui/machine/words.py" />
   <source>Speed never measured</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>Speeds in tok/s</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Speeds never measured</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Status</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Status: {words}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Stop</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Stop measuring</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Stop the reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/composer/send_button.py" />
   <source>Stop the reply (Esc)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/field_keys.py" />
   <source>Stop the reply, or leave another page</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Stopped</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Stopping</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>System prompt</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/table.py" />
   <source>Table</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Take away all that this chat sets for itself</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Takes the fastest mode for this model and this computer.</source>
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
   <location filename="app/storage/failures.py" />
   <source>Tenon cannot write to {folder}: make it writable, or set TENON_DATA_DIR to another folder.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Tenon chats</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon did not end as it should last time</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/conversation_store.py" />
   <source>Tenon ended before this reply was complete.</source>
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
   <location filename="app/ui/chat_page.py" />
   <source>Tenon opens web and mail links only, not this one: {address}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/update_check.py" />
   <source>Tenon {latest} is there; this is {own}.</source>
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
   <location filename="app/ui/transcript/highlighting.py" />
   <source>Text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The access token cannot be kept</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>The chat is archived. Search still finds it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats could not be read: the damaged file is kept as {path}, and a new one is begun.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats could not be read: they are back as of the backup of {day}, and the damaged file is kept as {path}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>The chats in {folder} are damaged: restart Tenon, or restore them from a backup.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>The chats in {folder} cannot be read or written ({reason}): check the disk.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats in {folder} come from a newer Tenon: install that version to open them.</source>
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
   <location filename="app/storage/failures.py" />
   <source>The disk that holds {folder} is full: free some space, or new messages are not saved.</source>
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
   <location filename="app/bridge/engine_client.py" />
   <source>The engine could not be started ({reason}): close other programs.</source>
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
   <location filename="app/bridge/engine_client.py" />
   <source>The engine stopped unexpectedly ({how}). Your chats are safe; it starts again with your next message.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} in it is no list of objects.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} in it is no text.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} is missing in a message in it, or there twice.</source>
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
   <location filename="app/ui/chat_folders.py" />
   <source>The folder “{name}” is deleted, its chats are kept.</source>
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
   <location filename="app/ui/machine/page.py" />
   <source>The machine is being looked at</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/turn_requests.py" />
   <source>The message is deleted.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The message is longer than the context</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/turns.py" />
   <source>The message that this reply answers was deleted: write a new one.</source>
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
   <location filename="app/ui/settings/consequences.py" />
   <source>The model is being loaded.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>The model is larger than the memory it may take, so its weights are read from the disk for every pass; the speed is the disk's.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/consequences.py" />
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
  <message numerus="yes">
   <location filename="app/chat/reply.py" />
   <source>The oldest %n message(s) were left out, because the chat is longer than the model's context.</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>The plan is being made. While a reply runs it waits for its end.</source>
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
   <location filename="app/settings/settings_file.py" />
   <source>The settings in {path} cannot be read ({reason}).</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>The settings were unreadable and start afresh.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>The settings were unreadable and start afresh; the old file is kept as {path}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>The small guide is built in and works offline. It knows Tenon well and the world a little.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>The speeds of the machine are measured first, in some seconds.</source>
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
   <location filename="app/chat/exchange/reading.py" />
   <source>There is no message in it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/backup.py" />
   <source>There is no room for today's backup of the chats ({size} MiB, {free} MiB are free): free some space on the disk that holds {folder}.</source>
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
   <location filename="app/ui/transcript/thought.py" />
   <source>Thinking</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>This cannot be done</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>This chat has settings of its own</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/conversation_store.py" />
   <source>This computer's SQLite has no full-text index (FTS5), so letters are compared, and it takes longer.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/exchange.py" />
   <source>This file holds no settings of Tenon: choose one that was made by Export settings.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>This installation</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>This machine</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/machine.py" />
   <source>This machine is being measured: the reply begins when that is done, or when you stop it.</source>
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
   <location filename="app/ui/turn_requests.py" />
   <source>This version and what follows it are deleted.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Thought</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Thoughts of the model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>Times plain</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_delegate.py" />
   <source>Title</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Titles by the model</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/age_groups.py" />
   <source>Today</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/backup.py" />
   <source>Today's backup of the chats is not sound: restart Tenon, which checks them.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Tokens</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>Tokens are kept for replies that are made while the inspector is open.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Tokens checked at once</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Tokens of the reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>Tokens: {words}</source>
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
   <location filename="app/ui/transcript/transcript.py" />
   <source>Transcript</source>
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
   <location filename="app/ui/composer/composer.py" />
   <source>Type a message first</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>Type “{word}” to go on:</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Typical acceptance (lossy)</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Undo</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/foot.py" />
   <source>Undo changes</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Unfold</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Unknown</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Unpacking, {done} of {total}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Unpin</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Usual</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Usual context</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Usual size of text</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Usual, {tokens} tokens</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>VRAM, GB</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Verification</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Version {number} of {all}</source>
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
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting for the engine to start again</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting for the other reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Waiting to go on, {done} of {total}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting until this machine is measured</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Waits for the other mode</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Warming up</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Ways to run the model, fastest first</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Weights in {format}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>What both modes are to answer</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>What can you do?</source>
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
   <location filename="app/ui/machine/words.py" />
   <source>What is measured is kept, and this model's predictions get better by it.</source>
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
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>What the model is told before the chat. Left blank, it is told nothing.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>What this page shows is copied as text.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>What was written so far is kept.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>What would you like to know?</source>
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
   <location filename="app/ui/inspector/inspector.py" />
   <source>Where it lives</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>Where it lives: {places}</source>
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
   <location filename="app/ui/inspector/edge.py" />
   <source>Width of the inspector: left and right change it</source>
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
   <location filename="app/bridge/turns.py" />
   <source>Write a message first.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>Write a prompt to compare the modes on.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Write a short story about a lighthouse</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Write a whole address, such as {example}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Writing</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Writing style</source>
   <translation type="unfinished" />
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>Writing, %n token(s)</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/age_groups.py" />
   <source>Yesterday</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>You</source>
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
   <location filename="app/ui/sidebar/sidebar.py" />
   <source>Your chats will be listed here.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/bubble.py" />
   <source>Your message</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Your message is kept.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Your message is kept. Send it when this reply is done, or stop the reply first.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Your next message starts the model again</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>about {speed}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>about {speed} tok/s</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>accepted</source>
   <translation type="unfinished" />
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>and %n more</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>archived</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>at rest</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>buffers</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>caches</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>corrected</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>d MMM yyyy</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>disk</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>draft</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>draft, accepted</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>engine</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>erase</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>exit code {code}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>first token</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>first token after {time}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>first token {time}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>free {size} GB</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>gigabytes</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>guessed and accepted</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>guessed and not taken</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>loading</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>loading, {percent}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>measured</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>measured here</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>measured {speed}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>measured {speed}, predicted {prediction}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>measuring</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>megabytes per second</source>
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
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>none, everything fits in memory</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>not loaded</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>not measured</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>not measured yet</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/line_plot.py" />
   <source>nothing yet</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/line_plot.py" />
   <source>now {value} {unit}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on battery</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on battery, {charge}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on mains power</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>other programs {size} GB</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>others</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>pinned</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>plain</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>predicted</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>predicted for this chat, then measured</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>predicted from assumed speeds</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/offers.py" />
   <source>predicted {speed}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>predicted, from assumed speeds</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>ran {mode}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>reply running</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>signal {number}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>signal {number}, most likely because memory ran out</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>stated in its own files</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: nothing was guessed</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: {accepted} accepted</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: {accepted} accepted, 1 corrected</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>stopped</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>the model's own</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>the model's own, in place of the guesses</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>the token before</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>tok/s</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>tok/s, assumed</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>tok/s, last 60 s</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>tokens</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>tokens per second</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>tokens/step</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>until the context is full</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>waiting for the other reply</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>warming up</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>weights</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/choice_popup.py" />
   <source>{choice}, in use</source>
   <translation type="unfinished" />
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>{done} of %n mode(s) done</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>{folder} is not there yet: nothing was put into it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{kind}, {size} free</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{minutes} min left</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model} answers on this computer. What you write stays here.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>{model} has a value of its own: {value}.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/open_chat.py" />
   <source>{model} is not on this computer any more: {other} answers in this chat from here on.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{mode} is the fastest here</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{mode}: {figures}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>{mode}: {speed} tok/s</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>{mode}: {speed} tok/s, predicted {predicted}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>{name} cannot be read ({reason}): check its rights.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/attachment.py" />
   <source>{name} has {size} MiB, but an attachment holds {most} MiB at most: attach the part that matters.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/attachment.py" />
   <source>{name} is empty: attach a file with text in it.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/attachment.py" />
   <source>{name} is not UTF-8 text: save it as UTF-8, then attach it again.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>{name} is not a file: attach files one by one.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/attachment.py" />
   <source>{name} is not a text file: only plain text can be attached.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>{name} was not imported. {reason}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>{number} of {total}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{part} of {whole}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>{path} cannot be written ({reason}): choose another folder, or free some space.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>{percent} at position {place}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{place}: {part} of {whole} GB: {shares}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>{problem} Nothing of this session is saved.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{seconds} s left</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{share} read for each step</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>{size} GB of memory</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>{size} GB on the GPU</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>{size} GB on {device}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{size} free</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{size} of swap</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{speed}, {times} times plain.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{speed}: no other mode was faster.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{tau} tokens/step</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>{times} times plain speed</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/line_plot.py" />
   <source>{title} over the last minute: {words}</source>
   <translation type="unfinished" />
  </message>
  <message numerus="yes">
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>{title}, folded, %n chat(s)</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>{title}, unfolded, %n chat(s)</source>
   <translation type="unfinished">
    <numerusform />
    <numerusform />
   </translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>{title}: {size} to fetch from {address}, {unpacked} on the disk</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{tokens} tokens</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>{token}, found likely by {percent} %</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>{token}, step {number}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{total}, {free} free</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>{used} of {limit} tokens</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>{used} of {limit} tokens of the model's context are in use</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>{value} tokens</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>{weights}, draft {draft}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>{weights}: reads {rate} of weights, {products} billion products/s</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>{what} Draft: {draft}</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>“{name}” was there already: its chats and these are together now.</source>
   <translation type="unfinished" />
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>“{title}” is deleted.</source>
   <translation type="unfinished" />
  </message>
 </context>
</TS>
