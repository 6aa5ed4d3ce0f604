<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
 <context>
  <name>Tenon</name>
  <message numerus="yes">
   <location filename="app/ui/trash_dialog.py" />
   <source>%n backup(s) still have it, the oldest of {day}: importing one brings it back.</source>
   <translation>
    <numerusform>%n backup still has it, of {day}: importing it brings it back.</numerusform>
    <numerusform>%n backups still have it, the oldest of {day}: importing one brings it back.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/figures.py" />
   <source>%n chapter(s)</source>
   <translation>
    <numerusform>%n chapter</numerusform>
    <numerusform>%n chapters</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/bridge/archive.py" />
   <source>%n chat(s) were imported.</source>
   <translation>
    <numerusform>%n chat was imported.</numerusform>
    <numerusform>%n chats were imported.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>%n core(s)</source>
   <translation>
    <numerusform>%n core</numerusform>
    <numerusform>%n cores</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/trash_dialog.py" />
   <source>%n day(s) left</source>
   <translation>
    <numerusform>%n day left</numerusform>
    <numerusform>%n days left</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>%n draft(s)</source>
   <translation>
    <numerusform>%n draft</numerusform>
    <numerusform>%n drafts</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/transcript/code.py" />
   <source>%n hidden character(s)</source>
   <translation>
    <numerusform>%n hidden character</numerusform>
    <numerusform>%n hidden characters</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/model_shelf.py" />
   <source>%n in the queue, {left} to come</source>
   <translation>
    <numerusform>%n in the queue, {left} to come</numerusform>
    <numerusform>%n in the queue, {left} to come</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>%n layer(s)</source>
   <translation>
    <numerusform>%n layer</numerusform>
    <numerusform>%n layers</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/models_page.py" />
   <source>%n model(s)</source>
   <translation>
    <numerusform>%n model</numerusform>
    <numerusform>%n models</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/model_news.py" />
   <source>%n more in the queue</source>
   <translation>
    <numerusform>%n more in the queue</numerusform>
    <numerusform>%n more in the queue</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>%n of {all} core(s) usable</source>
   <translation>
    <numerusform>%n of {all} cores usable</numerusform>
    <numerusform>%n of {all} cores usable</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/figures.py" />
   <source>%n page(s)</source>
   <translation>
    <numerusform>%n page</numerusform>
    <numerusform>%n pages</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>%n token(s)</source>
   <translation>
    <numerusform>%n token</numerusform>
    <numerusform>%n tokens</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/dialog.py" />
   <source>After the %n message(s) before it in the chat.</source>
   <translation>
    <numerusform>After the %n message before it in the chat.</numerusform>
    <numerusform>After the %n messages before it in the chat.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/erase_dialog.py" />
   <source>Erase %n chat(s) for good?</source>
   <translation>
    <numerusform>Erase %n chat for good?</numerusform>
    <numerusform>Erase %n chats for good?</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/erasing.py" />
   <source>It is erased in %n backup(s), too.</source>
   <translation>
    <numerusform>It is erased in %n backup, too.</numerusform>
    <numerusform>It is erased in %n backups, too.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/models_page.py" />
   <source>Show all %n model(s)</source>
   <translation>
    <numerusform>Show the %n model</numerusform>
    <numerusform>Show all %n models</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/chat/reply.py" />
   <source>The oldest %n message(s) were left out, because the chat is longer than the model's context.</source>
   <translation>
    <numerusform>The oldest message was left out, because the chat is longer than the model's context.</numerusform>
    <numerusform>The oldest %n messages were left out, because the chat is longer than the model's context.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>Writing, %n token(s)</source>
   <translation>
    <numerusform>Writing, %n token</numerusform>
    <numerusform>Writing, %n tokens</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>and %n more</source>
   <translation>
    <numerusform>and %n more</numerusform>
    <numerusform>and %n more</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>{done} of %n mode(s) done</source>
   <translation>
    <numerusform>{done} of %n mode done</numerusform>
    <numerusform>{done} of %n modes done</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/file_drops.py" />
   <source>{name} and %n more</source>
   <translation>
    <numerusform>{name} and %n more</numerusform>
    <numerusform>{name} and %n more</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/keeping.py" />
   <source>{server} is added, with %n model(s).</source>
   <translation>
    <numerusform>{server} is added, with %n model.</numerusform>
    <numerusform>{server} is added, with %n models.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>{title}, folded, %n chat(s)</source>
   <translation>
    <numerusform>{title}, folded, %n chat</numerusform>
    <numerusform>{title}, folded, %n chats</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>{title}, unfolded, %n chat(s)</source>
   <translation>
    <numerusform>{title}, unfolded, %n chat</numerusform>
    <numerusform>{title}, unfolded, %n chats</numerusform>
   </translation>
  </message>
 </context>
</TS>
