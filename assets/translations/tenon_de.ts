<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>Tenon</name>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>% by position</source>
   <translation>% je Position</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/trash_dialog.py" />
   <source>%n backup(s) still have it, the oldest of {day}: importing one brings it back.</source>
   <translation>
    <numerusform>%n Sicherung enthält ihn noch, vom {day}: Sie zu importieren bringt ihn zurück.</numerusform>
    <numerusform>%n Sicherungen enthalten ihn noch, die älteste vom {day}: Eine zu importieren bringt ihn zurück.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/figures.py" />
   <source>%n chapter(s)</source>
   <translation>
    <numerusform>%n Kapitel</numerusform>
    <numerusform>%n Kapitel</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/bridge/archive.py" />
   <source>%n chat(s) were imported.</source>
   <translation>
    <numerusform>%n Chat importiert.</numerusform>
    <numerusform>%n Chats importiert.</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>%n core(s)</source>
   <translation>
    <numerusform>%n Kern</numerusform>
    <numerusform>%n Kerne</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/trash_dialog.py" />
   <source>%n day(s) left</source>
   <translation>
    <numerusform>noch %n Tag</numerusform>
    <numerusform>noch %n Tage</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>%n draft(s)</source>
   <translation>
    <numerusform>%n Entwurf</numerusform>
    <numerusform>%n Entwürfe</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/transcript/code.py" />
   <source>%n hidden character(s)</source>
   <translation>
    <numerusform>%n verborgenes Zeichen</numerusform>
    <numerusform>%n verborgene Zeichen</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/model_shelf.py" />
   <source>%n in the queue, {left} to come</source>
   <translation>
    <numerusform>%n in der Warteschlange, noch {left}</numerusform>
    <numerusform>%n in der Warteschlange, noch {left}</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>%n layer(s)</source>
   <translation>
    <numerusform>%n Schicht</numerusform>
    <numerusform>%n Schichten</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/models_page.py" />
   <source>%n model(s)</source>
   <translation>
    <numerusform>%n Modell</numerusform>
    <numerusform>%n Modelle</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/model_news.py" />
   <source>%n more in the queue</source>
   <translation>
    <numerusform>%n weiterer in der Warteschlange</numerusform>
    <numerusform>%n weitere in der Warteschlange</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>%n of {all} core(s) usable</source>
   <translation>
    <numerusform>%n von {all} Kernen nutzbar</numerusform>
    <numerusform>%n von {all} Kernen nutzbar</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/figures.py" />
   <source>%n page(s)</source>
   <translation>
    <numerusform>%n Seite</numerusform>
    <numerusform>%n Seiten</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>%n token(s)</source>
   <translation>
    <numerusform>%n Token</numerusform>
    <numerusform>%n Tokens</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>0 is until the context is full. In Settings: {value}.</source>
   <translation>0 heißt: bis der Kontext voll ist. In den Einstellungen: {value}.</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>4-bit</source>
   <translation>4 Bit</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>8-bit (lossy)</source>
   <translation>8 Bit (verlustbehaftet)</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>8-bit where memory is short</source>
   <translation>8 Bit bei wenig Speicher</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>A bias of a token is {value}, but it must be between -100 and 100.</source>
   <translation>Der Zuschlag eines Tokens ist {value}, muss aber zwischen -100 und 100 liegen.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A chat takes its first line as its title; the model can find a better one when its reply is done.</source>
   <translation>Ein Chat heißt nach seiner ersten Zeile; das Modell findet vielleicht einen besseren Titel, wenn seine Antwort fertig ist.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A copy of all chats each day, beside them on this computer.</source>
   <translation>Jeden Tag eine Kopie aller Chats, daneben auf diesem Computer.</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>A damaged database that was kept aside may have it, too: it is deleted as a whole.</source>
   <translation>Auch eine beschädigte Datenbank, die aufgehoben wurde, kann ihn enthalten: Sie wird ganz gelöscht.</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>A draft guesses tokens that the model then checks several at a time: the same text, sooner.</source>
   <translation>Ein Entwurf rät Tokens, die das Modell dann zu mehreren auf einmal prüft: derselbe Text, nur früher.</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>A file</source>
   <translation>Eine Datei</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>A file cannot be read or written</source>
   <translation>Eine Datei lässt sich nicht lesen oder schreiben</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>A file of the model is damaged</source>
   <translation>Eine Datei des Modells ist beschädigt</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>A file of {repo} is not on the hub any more: get it again at its present revision.</source>
   <translation>Eine Datei von {repo} ist nicht mehr auf dem Hub: in der jetzigen Revision neu holen.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>A file with all that was changed, for another computer or to keep.</source>
   <translation>Eine Datei mit allem, was geändert wurde, für einen anderen Computer oder zum Aufheben.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>A large model for computers with much memory that answers at the speed of a small one, without thinking first.</source>
   <translation>Ein großes Modell für Computer mit viel Speicher, das so schnell wie ein kleines antwortet und nicht erst nachdenkt.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>A large model for computers with much memory: each token takes 8 of its 128 experts, so it answers at the speed of a small one.</source>
   <translation>Ein großes Modell für Computer mit viel Speicher: Jedes Token nimmt 8 von 128 Experten, es antwortet also so schnell wie ein kleines.</translation>
  </message>
  <message>
   <location filename="app/chat/attachment.py" />
   <source>A message holds {most} files at most: send the others with the next one.</source>
   <translation>Eine Nachricht nimmt höchstens {most} Dateien auf: die übrigen mit der nächsten senden.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/json_file.py" />
   <source>A message in it has no content, or is nobody's.</source>
   <translation>Eine Nachricht darin hat keinen Inhalt oder keinen Absender.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A mirror of the hub to search and download from; empty takes the hub itself.</source>
   <translation>Ein Spiegelserver des Hubs zum Suchen und Herunterladen; leer steht für den Hub selbst.</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>A mixture of experts: each token is computed with this part of its weights</source>
   <translation>Eine Mischung von Experten: jeder Token wird mit diesem Teil ihrer Gewichte berechnet</translation>
  </message>
  <message>
   <location filename="engine/planning/forecast.py" />
   <source>A mode with a draft may be faster, and is taken once replies have shown what the draft is worth here: measure every mode, or choose one with a draft.</source>
   <translation>Ein Modus mit Entwurf ist vielleicht schneller und wird genommen, sobald Antworten gezeigt haben, was der Entwurf hier bringt: alle Modi messen oder einen Modus mit Entwurf wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>A model cannot be called {name}: give another one with --name.</source>
   <translation>Ein Modell kann nicht {name} heißen: mit --name einen anderen Namen angeben.</translation>
  </message>
  <message>
   <location filename="engine/hub/offer.py" />
   <source>A model cannot be called {name}: use letters, digits, spaces and . _ + - alone.</source>
   <translation>Ein Modell kann nicht {name} heißen: nur Buchstaben, Ziffern, Leerzeichen und . _ + - benutzen.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>A model is being downloaded or imported: wait for it or stop it, and move the models then.</source>
   <translation>Ein Modell wird gerade heruntergeladen oder importiert: das abwarten oder anhalten und die Modelle dann verschieben.</translation>
  </message>
  <message>
   <location filename="engine/remote/asking.py" />
   <source>A model on a server gives no log-probabilities here: leave them out.</source>
   <translation>Ein Modell auf einem Server gibt hier keine Log-Wahrscheinlichkeiten: Lassen Sie sie weg.</translation>
  </message>
  <message>
   <location filename="engine/remote/asking.py" />
   <source>A model on a server writes no reply by a grammar here: give a JSON schema instead.</source>
   <translation>Ein Modell auf einem Server schreibt hier keine Antwort nach einer Grammatik: Geben Sie stattdessen ein JSON-Schema an.</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>A model that continues texts</source>
   <translation>Ein Modell, das Texte fortsetzt</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A model that was not used for so long leaves the memory; the next message loads it again.</source>
   <translation>Ein Modell, das so lange nicht benutzt wurde, verlässt den Speicher; die nächste Nachricht lädt es wieder.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>A move to {target} is not finished: finish it first.</source>
   <translation>Ein Umzug nach {target} ist nicht abgeschlossen: ihn erst abschließen.</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>A quantization is asked for, and safetensors have none: leave one of them out.</source>
   <translation>Eine Quantisierung ist verlangt, und safetensors haben keine: eines von beiden weglassen.</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>A question for both modes</source>
   <translation>Eine Frage für beide Modi</translation>
  </message>
  <message>
   <location filename="app/ui/done_notice.py" />
   <source>A reply could not be completed.</source>
   <translation>Eine Antwort konnte nicht beendet werden.</translation>
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>A reply is being written: compare the modes when it is done, or stop it first.</source>
   <translation>Gerade wird eine Antwort geschrieben: danach vergleichen oder sie vorher anhalten.</translation>
  </message>
  <message>
   <location filename="app/ui/done_notice.py" />
   <source>A reply is done.</source>
   <translation>Eine Antwort ist fertig.</translation>
  </message>
  <message>
   <location filename="app/bridge/machine.py" />
   <source>A reply is running: measure when it is complete, or stop the reply first.</source>
   <translation>Gerade läuft eine Antwort: danach messen oder sie vorher anhalten.</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>A reply that has a form or log-probabilities is verified by {rule} alone: leave the rule out.</source>
   <translation>Eine Antwort mit einer Form oder mit Log-Wahrscheinlichkeiten wird nur mit {rule} geprüft: die Regel weglassen.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A server that searches and downloads go through; empty takes the system's.</source>
   <translation>Ein Server, über den Suchen und Downloads gehen; leer steht für den des Systems.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>A setting does not work here</source>
   <translation>Eine Einstellung passt hier nicht</translation>
  </message>
  <message>
   <location filename="engine/modes/dovetail.py" />
   <source>A small draft guesses several tokens ahead, and the model checks them all at once.</source>
   <translation>Ein kleiner Entwurf rät mehrere Tokens voraus, und das Modell prüft sie alle auf einmal.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>A small model drafts with prompt tokens that lie beside it, and so in fewer steps.</source>
   <translation>Ein kleines Modell entwirft mit Prompt-Tokens, die neben ihm liegen, und so in weniger Schritten.</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>A small model that guesses for this one, fetched along</source>
   <translation>Ein kleines Modell, das für dieses rät, wird mitgeholt</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>A system prompt of its own</source>
   <translation>Ein eigener System-Prompt</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>A token is kept already; paste another one to replace it</source>
   <translation>Ein Token ist schon hinterlegt; ein anderer ersetzt ihn</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>A value in config.json is missing or of the wrong kind; correct it, or choose another model.</source>
   <translation>Ein Wert in der config.json fehlt oder ist von der falschen Art: ihn berichtigen oder ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>A value in the GGUF file's metadata is missing or of the wrong kind; choose another file of this model.</source>
   <translation>Ein Wert in den Metadaten der GGUF-Datei fehlt oder ist von der falschen Art: eine andere Datei dieses Modells wählen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/config_keys.py" />
   <source>A value in the draft's config.json is missing or of the wrong kind ({problem}); correct it, or choose another draft.</source>
   <translation>Ein Wert in der config.json des Entwurfsmodells fehlt oder ist von der falschen Art ({problem}); berichtigen Sie ihn oder wählen Sie ein anderes Entwurfsmodell.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/unpacking.py" />
   <source>A wheel wants to write to {name}, which is outside of its folder: it is not used.</source>
   <translation>Ein Wheel will nach {name} schreiben, also außerhalb seines Ordners: es wird nicht benutzt.</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>About Tenon</source>
   <translation>Über Tenon</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>About as fast as you read</source>
   <translation>Etwa so schnell, wie man liest</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>About {room} of memory for models, the rest for other programs.</source>
   <translation>Etwa {room} Speicher für Modelle, der Rest für andere Programme.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>About {room} of memory for models, the rest for other programs; and a GPU.</source>
   <translation>Etwa {room} Speicher für Modelle, der Rest für andere Programme; und eine GPU.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted</source>
   <translation>Angenommen</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Accepted guesses</source>
   <translation>Angenommene Vermutungen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted: nothing was drafted</source>
   <translation>Angenommen: es gab keinen Entwurf</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted: {shares}</source>
   <translation>Angenommen: {shares}</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Access token</source>
   <translation>Zugangstoken</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Access token, starts with hf_</source>
   <translation>Zugangstoken, beginnt mit hf_</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Adaptive fallback</source>
   <translation>Anpassende Rückfallschwelle</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Add</source>
   <translation>Hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Add a GGUF file</source>
   <translation>GGUF-Datei hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Add a file</source>
   <translation>Datei hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Add a folder of models</source>
   <translation>Ordner mit Modellen hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Add a folder...</source>
   <translation>Ordner hinzufügen...</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>Add a model's file</source>
   <translation>Datei eines Modells hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>Add a model's folder</source>
   <translation>Ordner eines Modells hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Add a server</source>
   <translation>Server hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Add a server...</source>
   <translation>Server hinzufügen ...</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Add from a folder</source>
   <translation>Aus Ordner hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Add {name}</source>
   <translation>{name} hinzufügen</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Added</source>
   <translation>Hinzugefügt</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Address</source>
   <translation>Adresse</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Advanced</source>
   <translation>Erweitert</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/dialog.py" />
   <source>After the %n message(s) before it in the chat.</source>
   <translation>
    <numerusform>Nach der einen Nachricht davor im Chat.</numerusform>
    <numerusform>Nach den %n Nachrichten davor im Chat.</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>All articles</source>
   <translation>Alle Artikel</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>All chats</source>
   <translation>Alle Chats</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>All chats with their attachments, what is typed and not sent, folders, presets, the system prompt, the search index and every backup are erased from this computer. This cannot be undone.</source>
   <translation>Alle Chats mit ihren Anhängen, Getipptes und nicht Gesendetes, Ordner, Vorlagen, der System-Prompt, der Suchindex und alle Sicherungen werden von diesem Computer gelöscht. Das lässt sich nicht rückgängig machen.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>All chats, presets and backups on this computer, for good. Asked for once more.</source>
   <translation>Alle Chats, Vorlagen und Sicherungen auf diesem Computer, endgültig. Es wird noch einmal gefragt.</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>All commands</source>
   <translation>Alle Befehle</translation>
  </message>
  <message>
   <location filename="app/ui/attaching.py" />
   <source>All files</source>
   <translation>Alle Dateien</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>All help</source>
   <translation>Gesamte Hilfe</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>All models</source>
   <translation>Alle Modelle</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>All that fit</source>
   <translation>Alle passenden</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>All words of the window.</source>
   <translation>Alle Texte des Fensters.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Always</source>
   <translation>Immer</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Another import is under way: wait for it, and try again.</source>
   <translation>Ein anderer Import läuft gerade: abwarten und neu versuchen.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Another name for the preset</source>
   <translation>Neuer Name der Vorlage</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>Another program is using the chats in {folder}: close it and send again.</source>
   <translation>Ein anderes Programm benutzt die Chats in {folder}: dort schließen und neu senden.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Another program keeps many connections open without a request: the oldest of them are closed.</source>
   <translation>Ein anderes Programm hält viele Verbindungen ohne eine Anfrage offen: Die ältesten davon werden geschlossen.</translation>
  </message>
  <message>
   <location filename="engine/hub/kept_list.py" />
   <source>Another window or command of Tenon changes models or lists just now: try again.</source>
   <translation>Ein anderes Fenster oder ein anderer Befehl von Tenon ändert gerade Modelle oder Listen: noch einmal versuchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installation.py" />
   <source>Another window or command of Tenon is fetching GPU support: wait for it.</source>
   <translation>Ein anderes Fenster oder ein anderer Befehl von Tenon holt gerade die GPU-Unterstützung: abwarten.</translation>
  </message>
  <message>
   <location filename="engine/hub/download/download.py" />
   <source>Another window or command of Tenon is fetching {name} already: wait for it, or pause it.</source>
   <translation>Ein anderes Fenster oder ein anderer Befehl von Tenon holt {name} schon: abwarten oder anhalten.</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Answer again</source>
   <translation>Neu antworten</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Answer without the draft</source>
   <translation>Ohne Entwurf antworten</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Appearance</source>
   <translation>Aussehen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Apply</source>
   <translation>Übernehmen</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Apply changes</source>
   <translation>Änderungen übernehmen</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Archive</source>
   <translation>Archivieren</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Archive chat</source>
   <translation>Chat archivieren</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Archived</source>
   <translation>Archiviert</translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>Articles about {words}</source>
   <translation>Artikel über {words}</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>As in Settings</source>
   <translation>Wie eingestellt</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>As many as pay</source>
   <translation>So viele, wie sich lohnen</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>As many layers as fit run on the GPU, the rest in memory.</source>
   <translation>So viele Schichten wie passen laufen auf der GPU, der Rest im Arbeitsspeicher.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>As the system</source>
   <translation>Wie das System</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Ask a follow-up</source>
   <translation>Weiterfragen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Ask anything</source>
   <translation>Etwas fragen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Asking how large it is...</source>
   <translation>Größe wird erfragt...</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Asking...</source>
   <translation>Wird gefragt...</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Asks once a day whether there is a newer Tenon; nothing else is sent along.</source>
   <translation>Fragt einmal am Tag, ob es ein neueres Tenon gibt; sonst wird nichts mitgeschickt.</translation>
  </message>
  <message>
   <location filename="app/bridge/replies.py" />
   <source>At temperature 0 every answer is the same: set a higher one for another answer.</source>
   <translation>Bei Temperatur 0 ist jede Antwort gleich: für eine andere Antwort eine höhere einstellen.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>At {address} is no server of models that speaks OpenAI's protocol: check the address, its port, and a sign-in page or proxy between.</source>
   <translation>Unter {address} ist kein Server mit Modellen, der das Protokoll von OpenAI spricht: Prüfen Sie Adresse und Port, und ob eine Anmeldeseite oder ein Proxy dazwischen steht.</translation>
  </message>
  <message>
   <location filename="app/ui/attaching.py" />
   <source>Attach files</source>
   <translation>Dateien anhängen</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Attach files...</source>
   <translation>Dateien anhängen...</translation>
  </message>
  <message>
   <location filename="app/ui/file_drops.py" />
   <source>Attach to your message</source>
   <translation>An die Nachricht anhängen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/bubble.py" />
   <source>Attached file {name}</source>
   <translation>Angehängte Datei {name}</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>Auto</source>
   <translation>Auto</translation>
  </message>
  <message>
   <location filename="engine/modes/dovetail.py" />
   <source>Auto: a draft is given, so dovetail guesses with it.</source>
   <translation>Auto: ein Entwurf ist angegeben, daher rät Dovetail mit ihm.</translation>
  </message>
  <message>
   <location filename="engine/modes/lookup.py" />
   <source>Auto: lookup needs no second model, and drafts only while that is faster than plain.</source>
   <translation>Auto: Nachschlagen braucht kein zweites Modell und rät nur voraus, solange das schneller ist als Normal.</translation>
  </message>
  <message>
   <location filename="engine/planning/mode_plan.py" />
   <source>Auto: plain, predicted at {speed}; no other mode is predicted to be faster here.</source>
   <translation>Auto: Normal, vorhergesagt {speed}; kein anderer Modus ist hier laut Vorhersage schneller.</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Auto: several drafts are given, so minions lets them vote.</source>
   <translation>Auto: mehrere Entwürfe sind angegeben, daher lässt Minions sie abstimmen.</translation>
  </message>
  <message>
   <location filename="engine/planning/mode_plan.py" />
   <source>Auto: {mode}, predicted at {speed} ({summary}).</source>
   <translation>Auto: {mode}, vorhergesagt {speed} ({summary}).</translation>
  </message>
  <message>
   <location filename="engine/planning/mode_plan.py" />
   <source>Auto: {mode}, predicted at {speed}, {times} ({summary}).</source>
   <translation>Auto: {mode}, vorhergesagt {speed}, {times} ({summary}).</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Automatic</source>
   <translation>Automatisch</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>Automatic is {value}, as the model's makers advise.</source>
   <translation>Automatisch ist {value}, wie die Hersteller des Modells empfehlen.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>Automatic is {value}, because the temperature is 0.</source>
   <translation>Automatisch ist {value}, weil die Temperatur 0 ist.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>Automatic is {value}, the usual value.</source>
   <translation>Automatisch ist {value}, der übliche Wert.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Back to the usual</source>
   <translation>Zurück zum Üblichen</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Back to the usual: {value}</source>
   <translation>Zurück zum Üblichen: {value}</translation>
  </message>
  <message>
   <location filename="app/chat/recommendation.py" />
   <source>Balanced</source>
   <translation>Ausgewogen</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Base model</source>
   <translation>Basismodell</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Base model: it was not made for chats, and only continues texts</source>
   <translation>Basismodell: nicht für Chats gemacht, setzt nur Texte fort</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Begin a new line</source>
   <translation>Neue Zeile beginnen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Begin a text</source>
   <translation>Beginnen Sie einen Text</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Being added</source>
   <translation>Wird hinzugefügt</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Best mode</source>
   <translation>Bester Modus</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Better models for this computer</source>
   <translation>Bessere Modelle für diesen Computer</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Both wrote equally fast</source>
   <translation>Beide schrieben gleich schnell</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Branching drafts</source>
   <translation>Verzweigte Entwürfe</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Bring back</source>
   <translation>Zurückholen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Bring back the chat deleted last</source>
   <translation>Zuletzt gelöschten Chat zurückholen</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Built in</source>
   <translation>Eingebaut</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Built in: very small, quick, often wrong</source>
   <translation>Eingebaut: sehr klein, schnell, oft falsch</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Can draft for {models}</source>
   <translation>Kann für {models} entwerfen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Cancel import</source>
   <translation>Import abbrechen</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Cannot run</source>
   <translation>Läuft nicht</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Careful answers and long texts in many languages.</source>
   <translation>Gründliche Antworten und lange Texte in vielen Sprachen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Change the server...</source>
   <translation>Server ändern ...</translation>
  </message>
  <message>
   <location filename="app/ui/settings/foot.py" />
   <source>Changes to apply: {count}.</source>
   <translation>Zu übernehmende Änderungen: {count}.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Chat</source>
   <translation>Chat</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Chat models</source>
   <translation>Chatmodelle</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Chat settings</source>
   <translation>Einstellungen des Chats</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/opening.py" />
   <source>Chat settings...</source>
   <translation>Einstellungen des Chats...</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Chat with it</source>
   <translation>Damit chatten</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Chat with {title}</source>
   <translation>Mit {title} chatten</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chats</source>
   <translation>Chats</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chats and backups</source>
   <translation>Chats und Sicherungen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Chats and backups (*.json *.sqlite3);;All files (*)</source>
   <translation>Chats und Sicherungen (*.json *.sqlite3);;Alle Dateien (*)</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Chats exported as JSON, conversations.json of ChatGPT's data export, or a backup of Tenon's</source>
   <translation>Als JSON exportierte Chats, conversations.json aus dem Datenexport von ChatGPT oder eine Sicherung von Tenon</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Chats with it stay as they are.</source>
   <translation>Chats mit ihm bleiben, wie sie sind.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Check for updates</source>
   <translation>Nach Updates suchen</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Check its files</source>
   <translation>Dateien prüfen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Check the merged tree</source>
   <translation>Gemeinsamen Baum prüfen</translation>
  </message>
  <message>
   <location filename="app/ui/model_menus.py" />
   <source>Choose a draft's folder</source>
   <translation>Ordner eines Entwurfsmodells wählen</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Choose a folder...</source>
   <translation>Ordner wählen...</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Choose a mode</source>
   <translation>Modus wählen</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Choose a model</source>
   <translation>Modell wählen</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Choose a port from 1 to 65535.</source>
   <translation>Wählen Sie einen Port von 1 bis 65535.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Choose another file</source>
   <translation>Andere Datei wählen</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Choose another model</source>
   <translation>Anderes Modell wählen</translation>
  </message>
  <message>
   <location filename="app/ui/composer/mode_button.py" />
   <source>Choose how replies are generated</source>
   <translation>Wählen, wie Antworten entstehen</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Chooses among the likeliest tokens that together are this probable; 1 takes all.</source>
   <translation>Wählt unter den wahrscheinlichsten Tokens, die zusammen so wahrscheinlich sind; 1 nimmt alle.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Chooses among this many of the likeliest tokens; 0 takes all.</source>
   <translation>Wählt unter so vielen der wahrscheinlichsten Tokens; 0 nimmt alle.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chooses the usual value of everything; Apply takes it over.</source>
   <translation>Wählt überall den üblichen Wert; Übernehmen macht ihn gültig.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/page_view.py" />
   <source>Chosen</source>
   <translation>Gewählt</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Chosen for</source>
   <translation>Gewählt für</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Close Tenon</source>
   <translation>Tenon beenden</translation>
  </message>
  <message>
   <location filename="app/ui/toast.py" />
   <source>Close notice</source>
   <translation>Hinweis schließen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/head.py" />
   <source>Close the inspector</source>
   <translation>Inspektor schließen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/head.py" />
   <source>Close the inspector (F12)</source>
   <translation>Inspektor schließen (F12)</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Close the search</source>
   <translation>Suche schließen</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Close without saving</source>
   <translation>Schließen ohne zu speichern</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Code</source>
   <translation>Code</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Colours of the window.</source>
   <translation>Farben des Fensters.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Colours the words of finished replies that a draft guessed and the model accepted.</source>
   <translation>Färbt in fertigen Antworten die Wörter, die ein Entwurf geraten und das Modell angenommen hat.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Comfortable</source>
   <translation>Bequem</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Commands</source>
   <translation>Befehle</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Compact</source>
   <translation>Kompakt</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Compare</source>
   <translation>Vergleichen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Compare modes on this prompt...</source>
   <translation>Modi an diesem Prompt vergleichen...</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Compare two modes</source>
   <translation>Zwei Modi vergleichen</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/opening.py" />
   <source>Compare two modes...</source>
   <translation>Zwei Modi vergleichen...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Computes with {name}</source>
   <translation>Rechnet mit {name}</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Connections</source>
   <translation>Verbindungen</translation>
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>Context in use</source>
   <translation>Belegter Kontext</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Context length</source>
   <translation>Kontextlänge</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Context to plan</source>
   <translation>Kontext für den Plan</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Continue</source>
   <translation>Fortsetzen</translation>
  </message>
  <message>
   <location filename="app/ui/continue_line.py" />
   <source>Continue a text</source>
   <translation>Einen Text fortsetzen</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Continue the reply</source>
   <translation>Antwort fortsetzen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Copied</source>
   <translation>Kopiert</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Copies what this page shows</source>
   <translation>Kopiert, was diese Seite zeigt</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy</source>
   <translation>Kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Copy as plain text</source>
   <translation>Als reinen Text kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Copy as text</source>
   <translation>Als Text kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Copy code</source>
   <translation>Code kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy code block</source>
   <translation>Codeblock kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/details_foot.py" />
   <source>Copy details</source>
   <translation>Details kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Copy details of this installation</source>
   <translation>Details dieser Installation kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy it now: from the next start on it is not shown any more, but can be copied.</source>
   <translation>Kopieren Sie ihn jetzt: ab dem nächsten Start wird er nicht mehr gezeigt, lässt sich aber kopieren.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Copy message</source>
   <translation>Nachricht kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy reply</source>
   <translation>Antwort kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy reply as plain text</source>
   <translation>Antwort als reinen Text kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/table.py" />
   <source>Copy table</source>
   <translation>Tabelle kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy the address</source>
   <translation>Adresse kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy the key</source>
   <translation>Schlüssel kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy the settings for {program}</source>
   <translation>Einstellungen für {program} kopieren</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Copy them, {size}</source>
   <translation>Kopieren, {size}</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Copy what is selected</source>
   <translation>Auswahl kopieren</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Correct the context length</source>
   <translation>Kontextlänge berichtigen</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Daily backup</source>
   <translation>Tägliche Sicherung</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>Damaged chat</source>
   <translation>Beschädigter Chat</translation>
  </message>
  <message>
   <location filename="app/storage/conversation_store.py" />
   <source>Damaged chat: restart Tenon</source>
   <translation>Beschädigter Chat: Tenon neu starten</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Dark</source>
   <translation>Dunkel</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Dark theme</source>
   <translation>Dunkles Farbschema</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete</source>
   <translation>Löschen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete chat</source>
   <translation>Chat löschen</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Delete folder, keep its chats</source>
   <translation>Ordner löschen, Chats behalten</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Delete message</source>
   <translation>Nachricht löschen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Delete reply</source>
   <translation>Antwort löschen</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Delete the chat, or a folder without its chats</source>
   <translation>Chat löschen, oder einen Ordner ohne seine Chats</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Delete “{name}”</source>
   <translation>„{name}“ löschen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete “{title}”?</source>
   <translation>„{title}“ löschen?</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Deleted chats</source>
   <translation>Gelöschte Chats</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Deleted chats stay here for {days} days, then they are erased. Backups of the days before still have them until newer ones take their place.</source>
   <translation>Gelöschte Chats bleiben {days} Tage hier, dann werden sie endgültig gelöscht. Sicherungen der Tage davor enthalten sie noch, bis neuere an ihre Stelle treten.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Depth of drafts</source>
   <translation>Tiefe der Entwürfe</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Discard changes</source>
   <translation>Änderungen verwerfen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Disk</source>
   <translation>Festplatte</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Disk in memory</source>
   <translation>Festplatte im Arbeitsspeicher</translation>
  </message>
  <message>
   <location filename="app/ui/attaching.py" />
   <source>Documents and text</source>
   <translation>Dokumente und Text</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Done</source>
   <translation>Fertig</translation>
  </message>
  <message>
   <location filename="engine/modes/dovetail.py" />
   <source>Dovetail was chosen: a draft guesses several tokens ahead, and the model checks them in one pass.</source>
   <translation>Dovetail wurde gewählt: ein Entwurf rät mehrere Tokens voraus, und das Modell prüft sie in einem Durchlauf.</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Download</source>
   <translation>Herunterladen</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Download it at {address} and install it over this one.</source>
   <translation>Von {address} herunterladen und über dieses installieren.</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Download {size}</source>
   <translation>{size} herunterladen</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Download {title}</source>
   <translation>{title} herunterladen</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/download_line.py" />
   <source>Downloading {name}, {share}</source>
   <translation>{name} wird geladen, {share}</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Downloading, {share}</source>
   <translation>Lädt herunter, {share}</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Downloads</source>
   <translation>Downloads</translation>
  </message>
  <message>
   <location filename="app/bridge/models/store.py" />
   <source>Downloads are under way: pause them, or wait for them.</source>
   <translation>Downloads laufen noch: sie anhalten oder abwarten.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Draft</source>
   <translation>Entwurf</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Draft ahead</source>
   <translation>Vorausentwerfen</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Draft below the threshold</source>
   <translation>Unter der Schwelle entwerfen</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Draft head</source>
   <translation>Entwurfskopf</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Draft paired, {size}</source>
   <translation>Entwurf dabei, {size}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Draft tree</source>
   <translation>Entwurfsbaum</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>Draft tree: {steps}</source>
   <translation>Entwurfsbaum: {steps}</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Draft...</source>
   <translation>Entwurf...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Draft: {name}.</source>
   <translation>Entwurf: {name}.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Drafts</source>
   <translation>Entwürfe</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Drafts are judged by the text that comes, whether or not their guesses were checked. Weights are relative: the largest is always 1, so one falls when another is rewarded. They only decide between guesses that are equally likely; without "{option}" they are the votes.</source>
   <translation>Entwürfe werden am Text gemessen, der kommt, ob ihre Versuche geprüft wurden oder nicht. Gewichte sind relativ: das größte ist immer 1, also fällt eines, wenn ein anderes belohnt wird. Sie entscheiden nur zwischen gleich wahrscheinlichen Versuchen; ohne „{option}“ sind sie die Stimmen.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>Drafts of several replies are made between the model's passes and not beside them: the pipeline is off, because drafts and model compute on one device ({device}).</source>
   <translation>Entwürfe mehrerer Antworten entstehen zwischen den Durchgängen des Modells und nicht daneben: Die Pipeline ist aus, weil Entwürfe und Modell auf einem Gerät rechnen ({device}).</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>Each layer is copied to the GPU when its turn comes.</source>
   <translation>Jede Schicht wird auf die GPU kopiert, wenn sie an der Reihe ist.</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Edit message</source>
   <translation>Nachricht bearbeiten</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Editors, agents and scripts of this computer can ask the model that is loaded here, by the protocols of OpenAI, Anthropic and Ollama. Your own messages go first. Web pages and other computers are not let in, and no word of a request is logged.</source>
   <translation>Editoren, Agenten und Skripte dieses Computers können das hier geladene Modell fragen, über die Protokolle von OpenAI, Anthropic und Ollama. Ihre eigenen Nachrichten gehen vor. Webseiten und andere Computer werden nicht eingelassen, und kein Wort einer Anfrage wird protokolliert.</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/erase_dialog.py" />
   <source>Erase %n chat(s) for good?</source>
   <translation>
    <numerusform>%n Chat endgültig löschen?</numerusform>
    <numerusform>%n Chats endgültig löschen?</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Erase everything</source>
   <translation>Alles löschen</translation>
  </message>
  <message>
   <location filename="app/ui/erasing.py" />
   <source>Erase everything...</source>
   <translation>Alles löschen...</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Erase for good</source>
   <translation>Endgültig löschen</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Erase for good...</source>
   <translation>Endgültig löschen...</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Erase it there, too</source>
   <translation>Auch dort löschen</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Erase “{title}” for good?</source>
   <translation>„{title}“ endgültig löschen?</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Erase...</source>
   <translation>Löschen...</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Error: {sentence}</source>
   <translation>Fehler: {sentence}</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>Every chat of {name} is here already.</source>
   <translation>Alle Chats aus {name} sind schon hier.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Every figure is assumed: the speeds of this machine were never measured.</source>
   <translation>Alle Zahlen sind angenommen: die Geschwindigkeiten dieses Computers wurden nie gemessen.</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>Every layer fits on the GPU, so that none would have to be copied there.</source>
   <translation>Alle Schichten passen auf die GPU, sodass keine dorthin kopiert werden müsste.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions and reasoning in six languages.</source>
   <translation>Alltagsfragen und Schlussfolgern in sechs Sprachen.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions and short texts in English.</source>
   <translation>Alltagsfragen und kurze Texte auf Englisch.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions and short texts in many languages.</source>
   <translation>Alltagsfragen und kurze Texte in vielen Sprachen.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions and tool calls on weak computers.</source>
   <translation>Alltägliche Fragen und Werkzeugaufrufe auf schwachen Computern.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions in many languages on small computers; much of it stays on the disk.</source>
   <translation>Alltägliche Fragen in vielen Sprachen auf kleinen Computern; vieles davon bleibt auf der Festplatte.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions, letters and summaries of long texts.</source>
   <translation>Alltagsfragen, Briefe und Zusammenfassungen langer Texte.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions; thinks before it answers, if asked to.</source>
   <translation>Alltagsfragen; denkt auf Wunsch nach, bevor es antwortet.</translation>
  </message>
  <message>
   <location filename="app/ui/erasing.py" />
   <source>Everything is erased.</source>
   <translation>Alles ist gelöscht.</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Everywhere</source>
   <translation>Überall</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Except by the built-in model</source>
   <translation>Außer vom eingebauten Modell</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a list, not {value}.</source>
   <translation>Erwartet wird eine Liste, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a number from {least} to {most}, not {value}.</source>
   <translation>Erwartet wird eine Zahl von {least} bis {most}, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a number from {least} to {most}, or nothing, not {value}.</source>
   <translation>Erwartet wird eine Zahl von {least} bis {most} oder nichts, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a whole number from {least} to {most}, not {value}.</source>
   <translation>Erwartet wird eine ganze Zahl von {least} bis {most}, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a whole number from {least} to {most}, or nothing, not {value}.</source>
   <translation>Erwartet wird eine ganze Zahl von {least} bis {most} oder nichts, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected one of {names}, not {value}.</source>
   <translation>Erwartet wird eines von {names}, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected text, not {value}.</source>
   <translation>Erwartet wird ein Text, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected texts by name, not {value}.</source>
   <translation>Erwartet werden Texte mit Namen, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected true or false, not {value}.</source>
   <translation>Erwartet wird true oder false, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected values by name, not {value}.</source>
   <translation>Erwartet werden Werte mit Namen, nicht {value}.</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Explain how a hash table works</source>
   <translation>Erkläre, wie eine Hashtabelle funktioniert</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Export all chats</source>
   <translation>Alle Chats exportieren</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Export all chats...</source>
   <translation>Alle Chats exportieren...</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Export chat</source>
   <translation>Chat exportieren</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Export chat...</source>
   <translation>Chat exportieren...</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Export settings</source>
   <translation>Einstellungen exportieren</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Export...</source>
   <translation>Exportieren...</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Fallback threshold</source>
   <translation>Rückfallschwelle</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Faster than you read</source>
   <translation>Schneller, als man liest</translation>
  </message>
  <message>
   <location filename="app/chat/recommendation.py" />
   <source>Fastest</source>
   <translation>Am schnellsten</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetch {size}</source>
   <translation>{size} holen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching GPU support</source>
   <translation>GPU-Unterstützung wird geholt</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching, {done} of {total}</source>
   <translation>Wird geholt, {done} von {total}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching...</source>
   <translation>Wird geholt...</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Files of several folders cannot be used in place: add --copy.</source>
   <translation>Dateien aus mehreren Ordnern lassen sich nicht am Ort benutzen: --copy hinzufügen.</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Find in this chat</source>
   <translation>In diesem Chat suchen</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>First mode</source>
   <translation>Erster Modus</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>First token</source>
   <translation>Erster Token</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>First token after {time}</source>
   <translation>Erster Token nach {time}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>First token: after a prompt of {tokens} tokens.</source>
   <translation>Erster Token: nach einem Prompt von {tokens} Tokens.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Fit</source>
   <translation>Platz</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Fits</source>
   <translation>Passt</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Fits easily</source>
   <translation>Passt gut</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Fits in memory</source>
   <translation>Passt in den Speicher</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Fluent letters, stories and everyday questions.</source>
   <translation>Flüssige Briefe, Geschichten und Alltagsfragen.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Fluent writing and careful answers in shorter chats.</source>
   <translation>Flüssiges Schreiben und gründliche Antworten in kürzeren Chats.</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Fold</source>
   <translation>Zuklappen</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Fold a folder, or unfold it</source>
   <translation>Ordner zu- oder aufklappen</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Folders of models</source>
   <translation>Ordner mit Modellen</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Folders...</source>
   <translation>Ordner...</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>For all models</source>
   <translation>Für alle Modelle</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>For computers with 24 GB: 4 of its 25 billion weights work on each token, so it answers at the speed of a small model.</source>
   <translation>Für Computer mit 24 GB: 4 seiner 25 Milliarden Gewichte arbeiten an jedem Token, daher antwortet es so schnell wie ein kleines Modell.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>For computers with 8 GB: each token takes 4 of its 32 experts, so it answers at the speed of a 1.7 billion model.</source>
   <translation>Für Computer mit 8 GB: Jedes Token nimmt 4 seiner 32 Experten, daher antwortet es so schnell wie ein Modell mit 1,7 Milliarden Gewichten.</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>For models larger than memory: a draft writes, the model is read from the disk to check.</source>
   <translation>Für Modelle größer als der Speicher: ein Entwurf schreibt, das Modell wird zum Prüfen von der Festplatte gelesen.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>For models that are read from the disk: what the draft expects next, in grey.</source>
   <translation>Bei Modellen, die von der Festplatte gelesen werden: was der Entwurf als Nächstes erwartet, in Grau.</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>For models that are read from the disk: what the draft expects, in grey</source>
   <translation>Bei Modellen, die von der Festplatte gelesen werden: was der Entwurf erwartet, in Grau</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>For models that ask for an account; it is kept in the system's keyring.</source>
   <translation>Für Modelle, die ein Konto verlangen; er liegt im Schlüsselbund des Systems.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>For the new chat alone. What is left open is as in Settings.</source>
   <translation>Nur für den neuen Chat. Was offen bleibt, ist wie in den Einstellungen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>For this machine</source>
   <translation>Für diesen Computer</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>For {model}</source>
   <translation>Für {model}</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>For “{title}” alone. What is left open is as in Settings.</source>
   <translation>Nur für „{title}“. Was offen bleibt, ist wie in den Einstellungen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Forget</source>
   <translation>Vergessen</translation>
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>Forget token</source>
   <translation>Token vergessen</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Forget {server}...</source>
   <translation>{server} vergessen ...</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Forget {server}?</source>
   <translation>{server} vergessen?</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/formula_block.py" />
   <source>Formula</source>
   <translation>Formel</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Free the memory when idle</source>
   <translation>Speicher bei Ruhe freigeben</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>From</source>
   <translation>Von</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>From disk</source>
   <translation>Von der Festplatte</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/model_change.py" />
   <source>From here on: {model}</source>
   <translation>Ab hier: {model}</translation>
  </message>
  <message>
   <location filename="engine/text/attached_turns.py" />
   <source>From {places}.</source>
   <translation>Aus {places}.</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>From {repo}</source>
   <translation>Von {repo}</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Full precision</source>
   <translation>Volle Genauigkeit</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>GB over the reply</source>
   <translation>GB während der Antwort</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>GPU memory budget</source>
   <translation>Budget an GPU-Speicher</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>GPU support</source>
   <translation>GPU-Unterstützung</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/status.py" />
   <source>GPU support ({title}) is installed and works with {seen}.</source>
   <translation>Die GPU-Unterstützung ({title}) ist installiert und läuft mit {seen}.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because another torch is imported in its place: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn statt ihres torch wird ein anderes importiert: den Treiber der GPU prüfen oder die Unterstützung mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because it cannot be checked ({reason}): check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn sie lässt sich nicht prüfen ({reason}): den Treiber der GPU prüfen oder die Unterstützung mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because its torch cannot be imported ({reason}): check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn ihr torch lässt sich nicht importieren ({reason}): den Treiber der GPU prüfen oder die Unterstützung mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because its torch did not answer in {seconds} s: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn ihr torch hat in {seconds} s nicht geantwortet: den Treiber der GPU prüfen oder die Unterstützung mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because its torch ended the process with code {code}: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn ihr torch hat den Prozess mit Code {code} beendet: den Treiber der GPU prüfen oder die Unterstützung mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because its torch sees no GPU: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn ihr torch sieht keine GPU: den Treiber der GPU prüfen oder die Unterstützung mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because the GPU cannot compute with it ({reason}): check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn die GPU kann damit nicht rechnen ({reason}): den Treiber der GPU prüfen oder die Unterstützung mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because the GPU computes wrong results with it: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn die GPU rechnet damit falsch: den Treiber der GPU prüfen oder die Unterstützung mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because {name} in its folder is not as it was installed: fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) ist ausgeschaltet, denn {name} in ihrem Ordner ist nicht so wie bei der Installation: mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installed_addon.py" />
   <source>GPU support ({title}) was fetched for another version of Tenon, so it is switched off: fetch it again with `tenon gpu install`.</source>
   <translation>Die GPU-Unterstützung ({title}) wurde für eine andere Version von Tenon geholt und ist daher ausgeschaltet: mit `tenon gpu install` neu holen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>GPU support cannot be used</source>
   <translation>GPU-Unterstützung ist nicht nutzbar</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>GPU support for {name} is {title}.</source>
   <translation>Die GPU-Unterstützung für {name} ist {title}.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>GPU support for {name} with driver {driver} is {title}.</source>
   <translation>Die GPU-Unterstützung für {name} mit Treiber {driver} ist {title}.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installed_addon.py" />
   <source>GPU support in {folder} cannot be removed while it is in use: close every window of Tenon first.</source>
   <translation>Die GPU-Unterstützung in {folder} lässt sich nicht entfernen, solange sie in Gebrauch ist: erst alle Fenster von Tenon schließen.</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Gemma 3 (text part)</source>
   <translation>Gemma 3 (Textteil)</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Gemma 4 (text part)</source>
   <translation>Gemma 4 (Textteil)</translation>
  </message>
  <message>
   <location filename="engine/modes/plain.py" />
   <source>Generates one token after the other.</source>
   <translation>Erzeugt einen Token nach dem anderen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Get</source>
   <translation>Holen</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Get a better one</source>
   <translation>Ein besseres holen</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Get a model</source>
   <translation>Modell holen</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Get a model below, or open one that you have.</source>
   <translation>Unten ein Modell holen oder ein vorhandenes öffnen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Get its draft {title}</source>
   <translation>Seinen Entwurf {title} holen</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Get more models...</source>
   <translation>Weitere Modelle holen...</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Get {title}</source>
   <translation>{title} holen</translation>
  </message>
  <message>
   <location filename="engine/modes/ghidorah.py" />
   <source>Ghidorah was chosen: Medusa heads guess several tokens in one step, and the model checks a tree of them in one pass.</source>
   <translation>Ghidorah wurde gewählt: Medusa-Köpfe raten mehrere Tokens in einem Schritt, und das Modell prüft einen Baum davon in einem Durchlauf.</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Give one folder, or files alone.</source>
   <translation>Entweder einen Ordner oder nur Dateien angeben.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Give up</source>
   <translation>Aufgeben</translation>
  </message>
  <message>
   <location filename="app/ui/models/download_list.py" />
   <source>Give up {name}</source>
   <translation>{name} aufgeben</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Give up {name}?</source>
   <translation>{name} aufgeben?</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Go on editing</source>
   <translation>Weiter bearbeiten</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Go on moving</source>
   <translation>Umzug fortsetzen</translation>
  </message>
  <message>
   <location filename="app/ui/models/download_list.py" />
   <source>Go on with {name}</source>
   <translation>Weiter mit {name}</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Go to the beginning</source>
   <translation>Zum Anfang</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Go to the end</source>
   <translation>Zum Ende</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Go to the next field or button</source>
   <translation>Zum nächsten Feld oder Knopf</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Go to the one before</source>
   <translation>Zum vorigen</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Good answers in many languages on a laptop; much of it stays on the disk.</source>
   <translation>Gute Antworten in vielen Sprachen auf einem Laptop; vieles davon bleibt auf der Festplatte.</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Granite with experts</source>
   <translation>Granite mit Experten</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Graphics</source>
   <translation>Grafik</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Guesses of prompt tokens and Medusa heads are joined by what followed the same words in the text.</source>
   <translation>Zu den Vermutungen von Prompt-Tokens und Medusa-Köpfen kommt, was denselben Wörtern im Text schon folgte.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Guesses that held</source>
   <translation>Angenommene Versuche</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Guesses that held, of all users</source>
   <translation>Bestätigte Vermutungen, aller Benutzer</translation>
  </message>
  <message>
   <location filename="engine/modes/lookup.py" />
   <source>Guesses the next tokens from the text so far, checks several at once.</source>
   <translation>Rät die nächsten Tokens aus dem bisherigen Text, prüft mehrere auf einmal.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Guessing rested in this reply, because it would not have paid here.</source>
   <translation>In dieser Antwort ruhte das Raten, weil es sich hier nicht gelohnt hätte.</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>HF_HUB_OFFLINE is set, so the hub is not asked: unset it to search and download.</source>
   <translation>HF_HUB_OFFLINE ist gesetzt, daher wird der Hub nicht gefragt: zum Suchen und Herunterladen die Variable entfernen.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Hard disk</source>
   <translation>Festplatte</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Hard questions and long texts; slow, from the disk on most machines.</source>
   <translation>Schwere Fragen und lange Texte; langsam, auf den meisten Computern von der Festplatte.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Hard questions, code and long texts.</source>
   <translation>Schwere Fragen, Code und lange Texte.</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Has a draft</source>
   <translation>Mit Entwurf</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Heads</source>
   <translation>Köpfe</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Help</source>
   <translation>Hilfe</translation>
  </message>
  <message>
   <location filename="app/ui/help/help_line.py" />
   <source>Help has an answer: {title}</source>
   <translation>Die Hilfe hat eine Antwort: {title}</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Hide the thoughts</source>
   <translation>Gedanken ausblenden</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>High</source>
   <translation>Hoch</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>How drafts grow</source>
   <translation>Wie Entwürfe wachsen</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How freely words are chosen: 0 always takes the likeliest.</source>
   <translation>Wie frei Wörter gewählt werden: 0 nimmt immer das wahrscheinlichste.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>How freely words are chosen: 0 takes the likeliest each time. In Settings: {value}.</source>
   <translation>Wie frei Wörter gewählt werden: 0 nimmt stets das wahrscheinlichste. In den Einstellungen: {value}.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>How many branches of a draft grow at each step.</source>
   <translation>Wie viele Zweige eines Entwurfs bei jedem Schritt wachsen.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>How many guessed tokens the model checks at once.</source>
   <translation>Wie viele geratene Tokens das Modell auf einmal prüft.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How many of the processor's cores compute.</source>
   <translation>Wie viele Kerne des Prozessors rechnen.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>How many tokens ahead a draft goes.</source>
   <translation>Wie viele Tokens ein Entwurf vorausgeht.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>How many tokens are guessed: as many as pay, by Minions' selector, or always the same number.</source>
   <translation>Wie viele Tokens geraten werden: so viele, wie sich lohnen, nach Minions’ Auswahl oder immer gleich viele.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How much of the chat the model remembers, in tokens.</source>
   <translation>Wie viel vom Chat das Modell behält, in Tokens.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>How often a guessed token held where the tokens before it did</source>
   <translation>Wie oft ein geratener Token hielt, wo die Tokens davor hielten</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How replies are generated.</source>
   <translation>Wie Antworten entstehen.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>How replies are generated. In Settings: {value}.</source>
   <translation>Wie Antworten entstehen. In den Einstellungen: {value}.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>How words are chosen</source>
   <translation>Wie Wörter gewählt werden</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>I have a model file</source>
   <translation>Ich habe eine Modelldatei</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Import chats</source>
   <translation>Chats importieren</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Import chats...</source>
   <translation>Chats importieren...</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Import settings</source>
   <translation>Einstellungen importieren</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Import...</source>
   <translation>Importieren...</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>In memory</source>
   <translation>Im Speicher</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>In messages</source>
   <translation>In Nachrichten</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>In the list of chats</source>
   <translation>In der Liste der Chats</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>In the messages</source>
   <translation>In den Nachrichten</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>In use</source>
   <translation>In Gebrauch</translation>
  </message>
  <message>
   <location filename="app/ui/settings/page_view.py" />
   <source>In use now</source>
   <translation>In Gebrauch</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>In use now: {value}</source>
   <translation>Jetzt in Gebrauch: {value}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/head.py" />
   <source>Inspector</source>
   <translation>Inspektor</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Installed</source>
   <translation>Installiert</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Interrupted</source>
   <translation>Unterbrochen</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>It begins as soon as the model is loaded.</source>
   <translation>Er beginnt, sobald das Modell geladen ist.</translation>
  </message>
  <message>
   <location filename="app/storage/outside_chats.py" />
   <source>It cannot be read ({reason}): check its rights.</source>
   <translation>Sie ist nicht lesbar ({reason}): die Rechte prüfen.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/json_file.py" />
   <source>It comes from a newer Tenon: install that version to import it.</source>
   <translation>Sie stammt von einem neueren Tenon: diese Version installieren, um sie zu importieren.</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>It could not be looked at. Everything else works all the same.</source>
   <translation>Er ließ sich nicht ansehen. Alles andere geht trotzdem.</translation>
  </message>
  <message>
   <location filename="engine/hub/search.py" />
   <source>It holds neither GGUF nor safetensors files.</source>
   <translation>Es enthält weder GGUF- noch safetensors-Dateien.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>It is PyTorch for this graphics card, in a folder of its own, and can be removed again.</source>
   <translation>Das ist PyTorch für diese Grafikkarte, in einem eigenen Ordner, und lässt sich wieder entfernen.</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>It is damaged, so that reading it failed.</source>
   <translation>Sie ist beschädigt und ließ sich nicht lesen.</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/erasing.py" />
   <source>It is erased in %n backup(s), too.</source>
   <translation>
    <numerusform>Auch in %n Sicherung gelöscht.</numerusform>
    <numerusform>Auch in %n Sicherungen gelöscht.</numerusform>
   </translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>It is for models larger than memory, and this one fits.</source>
   <translation>Der Modus ist für Modelle, die größer sind als der Arbeitsspeicher, und dieses passt hinein.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>It is in use: it leaves memory first, and the built-in model answers from then on.</source>
   <translation>Es ist in Gebrauch: es verlässt erst den Speicher, danach antwortet das eingebaute Modell.</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>It is in use: the built-in model answers from then on.</source>
   <translation>Er wird benutzt: Danach antwortet das eingebaute Modell.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>It is kept in the system's keyring.</source>
   <translation>Er liegt im Schlüsselbund des Systems.</translation>
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>It is larger than 1 GiB: export fewer chats.</source>
   <translation>Sie ist größer als 1 GiB: weniger Chats exportieren.</translation>
  </message>
  <message>
   <location filename="app/storage/outside_chats.py" />
   <source>It is larger than 4 GiB, as no backup of chats is: take another one.</source>
   <translation>Sie ist größer als 4 GiB, was keine Sicherung von Chats ist: Nehmen Sie eine andere.</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>It is looked up as {host}.</source>
   <translation>Nachgeschlagen wird {host}.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/reading.py" />
   <source>It is no JSON, or is damaged.</source>
   <translation>Sie ist kein JSON oder beschädigt.</translation>
  </message>
  <message>
   <location filename="app/storage/outside_chats.py" />
   <source>It is no backup of chats that can be read: take another one.</source>
   <translation>Sie ist keine lesbare Sicherung von Chats: eine andere nehmen.</translation>
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>It is not UTF-8 text.</source>
   <translation>Sie ist kein UTF-8-Text.</translation>
  </message>
  <message>
   <location filename="engine/hub/search.py" />
   <source>It is quantized with {method}; take the original or a GGUF version.</source>
   <translation>Es ist mit {method} quantisiert: das Original oder eine GGUF-Version nehmen.</translation>
  </message>
  <message>
   <location filename="engine/modes/ghidorah.py" />
   <source>It needs Medusa heads as its draft: choose heads that were made for this model.</source>
   <translation>Der Modus braucht Medusa-Köpfe als Entwurf: Köpfe wählen, die für dieses Modell gemacht sind.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>It needs a draft: name a small model of the same vocabulary, or a head that was made for this model.</source>
   <translation>Der Modus braucht einen Entwurf: ein kleines Modell mit demselben Vokabular angeben oder einen Kopf, der für dieses Modell gemacht ist.</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>It needs a small model as its draft, Medusa heads or prompt tokens: choose a model of the same vocabulary, or what was trained for this one. Other heads cannot guess while the model is read from the disk.</source>
   <translation>Der Modus braucht ein kleines Modell als Entwurf, Medusa-Köpfe oder Prompt-Tokens: ein Modell mit demselben Vokabular wählen oder etwas, das für dieses Modell trainiert wurde. Andere Köpfe können nicht raten, während das Modell von der Platte gelesen wird.</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>It needs layers on the GPU, and the setting for GPU layers is 0.</source>
   <translation>Der Modus braucht Schichten auf der GPU, und die Einstellung für GPU-Schichten ist 0.</translation>
  </message>
  <message>
   <location filename="engine/modes/ppd.py" />
   <source>It needs prompt tokens as its draft: choose a set that was trained for this model.</source>
   <translation>Der Modus braucht Prompt-Tokens als Entwurf: einen Satz wählen, der für dieses Modell trainiert wurde.</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>It needs {least} of memory beside its draft even when its layers are read from the disk, and {free} are free.</source>
   <translation>Es braucht neben seinem Entwurf {least} Speicher, selbst wenn seine Schichten von der Festplatte gelesen werden, und {free} sind frei.</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>It needs {least} of memory even when its layers are read from the disk, and {free} are free.</source>
   <translation>Es braucht {least} Speicher, selbst wenn seine Schichten von der Festplatte gelesen werden, und {free} sind frei.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>It stays in the trash for {days} days.</source>
   <translation>Er bleibt {days} Tage im Papierkorb.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>It supports Arc cards and the graphics of Core Ultra processors alone, and is of no use with older Intel graphics.</source>
   <translation>Sie unterstützt nur Arc-Karten und die Grafik von Core-Ultra-Prozessoren und nützt bei älterer Intel-Grafik nichts.</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>It takes more than {most} GiB of memory to read: export fewer chats.</source>
   <translation>Sie zu lesen braucht mehr als {most} GiB Arbeitsspeicher: Exportieren Sie weniger Chats.</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>It took longer than {seconds} s to read: export fewer chats.</source>
   <translation>Sie zu lesen dauerte länger als {seconds} s: Exportieren Sie weniger Chats.</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>It was not used for a while, so its memory is free; the next message loads it again.</source>
   <translation>Es wurde eine Weile nicht benutzt, daher ist sein Speicher frei; die nächste Nachricht lädt es wieder.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Its draft {name} too, {size}</source>
   <translation>Auch sein Entwurf {name}, {size}</translation>
  </message>
  <message>
   <location filename="engine/placement/disk.py" />
   <source>Its file lies on a network drive: a solid-state drive in this machine would be faster.</source>
   <translation>Seine Datei liegt auf einem Netzlaufwerk: eine SSD in diesem Computer wäre schneller.</translation>
  </message>
  <message>
   <location filename="engine/placement/disk.py" />
   <source>Its file lies on a spinning disk: a solid-state drive in this machine would be faster.</source>
   <translation>Seine Datei liegt auf einer Festplatte: eine SSD in diesem Computer wäre schneller.</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>Its files need {needed_bytes} of disk, and {free_bytes} are free: make room, or choose a smaller model.</source>
   <translation>Seine Dateien brauchen {needed_bytes} auf der Festplatte, und {free_bytes} sind frei: Platz schaffen oder ein kleineres Modell wählen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Its files stay in {place}.</source>
   <translation>Die Dateien bleiben in {place}.</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Its letters are of several scripts and may look like another name: this is what is looked up.</source>
   <translation>Ihre Buchstaben stammen aus mehreren Schriften und können wie ein anderer Name aussehen: Dies wird nachgeschlagen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Its models leave the list, and its key the keyring. Chats stay.</source>
   <translation>Seine Modelle verschwinden aus der Liste und sein Schlüssel aus dem Schlüsselbund. Chats bleiben.</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Its owner wants terms accepted first</source>
   <translation>Vorher sind Bedingungen des Anbieters anzunehmen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>JSON, to import again (*.json)</source>
   <translation>JSON, zum Wiedereinlesen (*.json)</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Judge every draft</source>
   <translation>Jeden Entwurf bewerten</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/jump_button.py" />
   <source>Jump to latest</source>
   <translation>Zum Neuesten</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/jump_button.py" />
   <source>Jump to latest (Ctrl+End)</source>
   <translation>Zum Neuesten (Strg+Ende)</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Jump to the latest message</source>
   <translation>Zur neuesten Nachricht</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Keep it</source>
   <translation>Behalten</translation>
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>Keep token</source>
   <translation>Token behalten</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Keep, rename or delete a preset</source>
   <translation>Vorlage sichern, umbenennen oder löschen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Keeps what the fields below say</source>
   <translation>Sichert, was in den Feldern unten steht</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Key</source>
   <translation>Schlüssel</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Keyboard shortcuts</source>
   <translation>Tastenkürzel</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>Keys and values take 8 bits, which is lossy, so that {context} tokens of context fit into memory.</source>
   <translation>Keys und Values belegen 8 Bit, was verlustbehaftet ist, damit {context} Tokens Kontext in den Speicher passen.</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>LFM2 with experts</source>
   <translation>LFM2 mit Experten</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad was chosen, but this model fits in memory: nothing is read from the disk, so there is no wait in which the draft could guess; it guesses before each pass only.</source>
   <translation>LLMCad wurde gewählt, aber dieses Modell passt in den Speicher: nichts wird von der Festplatte gelesen, daher gibt es keine Wartezeit, in der der Entwurf raten könnte; er rät nur vor jedem Durchlauf.</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad was chosen: layers that memory has no room for are read from the disk, and meanwhile a draft guesses ahead.</source>
   <translation>LLMCad wurde gewählt: Schichten, für die im Arbeitsspeicher kein Platz ist, werden von der Festplatte gelesen, und währenddessen rät ein Entwurf voraus.</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: drafts are trees of guesses and not single lines.</source>
   <translation>LLMCad: Entwürfe sind Bäume und nicht einzelne Reihen.</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: the draft goes on below the threshold while a guess is worth its time.</source>
   <translation>LLMCad: der Entwurf geht unter der Schwelle weiter, solange sich ein Versuch lohnt.</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: the draft goes on while the model's weights are read.</source>
   <translation>LLMCad: der Entwurf geht weiter, während die Gewichte des Modells gelesen werden.</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: the draft's confidence decides when the model checks it.</source>
   <translation>LLMCad: wie sicher der Entwurf ist, entscheidet, wann das Modell ihn prüft.</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: the model checks a draft once its best guess is less likely than this, to begin with.</source>
   <translation>LLMCad: das Modell prüft einen Entwurf, sobald sein bester Versuch unwahrscheinlicher ist als dies, für den Anfang.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Language</source>
   <translation>Sprache</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Larger text</source>
   <translation>Größere Schrift</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>Layer offload</source>
   <translation>Schicht-Offload</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>Layer offload was chosen: layers that do not fit on the GPU are copied there for each token.</source>
   <translation>Schicht-Offload wurde gewählt: Schichten, die nicht auf die GPU passen, werden für jeden Token dorthin kopiert.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Layers on the GPU</source>
   <translation>Schichten auf der GPU</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Leave another page, stop the reply or close a notice</source>
   <translation>Eine andere Seite verlassen, die Antwort anhalten oder einen Hinweis schließen</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Leaves out tokens that are less likely than this share of the likeliest; 0 takes all.</source>
   <translation>Lässt Tokens weg, die unwahrscheinlicher sind als dieser Anteil des wahrscheinlichsten; 0 nimmt alle.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>Left out, because their values are not allowed: {names}.</source>
   <translation>Ausgelassen, weil ihre Werte nicht erlaubt sind: {names}.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_paint.py" />
   <source>Legend: {looks}</source>
   <translation>Legende: {looks}</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Length of drafts</source>
   <translation>Länge der Entwürfe</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Length of replies</source>
   <translation>Länge der Antworten</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Licence</source>
   <translation>Lizenz</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Licences</source>
   <translation>Lizenzen</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Light</source>
   <translation>Hell</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Light theme</source>
   <translation>Helles Farbschema</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Limits</source>
   <translation>Grenzen</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Loading and reading the prompt</source>
   <translation>Laden und Prompt lesen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Loading the model</source>
   <translation>Modell wird geladen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Loading the model, {percent}</source>
   <translation>Modell wird geladen, {percent}</translation>
  </message>
  <message>
   <location filename="app/bridge/model_in_engine.py" />
   <source>Loads when the running reply is complete.</source>
   <translation>Lädt, wenn die laufende Antwort fertig ist.</translation>
  </message>
  <message>
   <location filename="app/bridge/model_in_engine.py" />
   <source>Loads when this machine is measured.</source>
   <translation>Lädt, wenn dieser Computer gemessen ist.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Longer texts, code and careful answers in many languages.</source>
   <translation>Längere Texte, Code und gründliche Antworten in vielen Sprachen.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Longest reply</source>
   <translation>Längste Antwort</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Longest reply in tokens.</source>
   <translation>Längste Antwort in Tokens.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Look again</source>
   <translation>Neu suchen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Look up its size</source>
   <translation>Größe erfragen</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Look words up too</source>
   <translation>Wörter zusätzlich nachschlagen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Looking at the graphics card...</source>
   <translation>Grafikkarte wird angesehen...</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>Looking at what runs here...</source>
   <translation>Es wird geprüft, was hier läuft...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Looking whether it works here...</source>
   <translation>Es wird geprüft, ob es hier läuft...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Looking which modes can run</source>
   <translation>Mögliche Modi werden gesucht</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Lookup</source>
   <translation>Nachschlagen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>Low</source>
   <translation>Niedrig</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>MB/s over the reply</source>
   <translation>MB/s während der Antwort</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Make folder</source>
   <translation>Ordner anlegen</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Makes words that were used already less likely; 1 leaves them as they are.</source>
   <translation>Macht schon benutzte Wörter unwahrscheinlicher; 1 lässt sie, wie sie sind.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mark accepted drafts</source>
   <translation>Angenommene Entwürfe markieren</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Markdown, to read (*.md)</source>
   <translation>Markdown, zum Lesen (*.md)</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Marks what a draft guessed and the model accepted, in finished replies</source>
   <translation>Markiert in fertigen Antworten, was ein Entwurf geraten und das Modell angenommen hat</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measure again</source>
   <translation>Neu messen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Measure every mode</source>
   <translation>Alle Modi messen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measure speeds</source>
   <translation>Geschwindigkeiten messen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>Measured</source>
   <translation>Gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measured on {date}</source>
   <translation>Gemessen am {date}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measured today at {time}</source>
   <translation>Heute um {time} gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measured while other programs kept it busy</source>
   <translation>Gemessen, während andere Programme den Computer beschäftigten</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measurements are kept and improve the predictions for this model.</source>
   <translation>Messwerte bleiben gespeichert und verbessern die Vorhersagen für dieses Modell.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measures processor, memory and disks anew, in some seconds</source>
   <translation>Misst Prozessor, Speicher und Festplatten neu, in einigen Sekunden</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Measuring</source>
   <translation>Messung</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Measuring its speed, {share}. You need not wait.</source>
   <translation>Sein Tempo wird gemessen, {share}. Warten ist nicht nötig.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measuring processor, memory and disk</source>
   <translation>Prozessor, Speicher und Festplatte werden gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>Medium</source>
   <translation>Mittel</translation>
  </message>
  <message>
   <location filename="engine/modes/ghidorah.py" />
   <source>Medusa heads guess several tokens in one step, the model checks a tree of them at once.</source>
   <translation>Medusa-Köpfe raten mehrere Tokens in einem Schritt, das Modell prüft einen Baum davon auf einmal.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Memory budget</source>
   <translation>Speicherbudget</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed_experts.py" />
   <source>Memory holds {part}, those that were used last; the others are read from the disk when a token chooses them: up to {size} GB for each token, which takes about {seconds} s.</source>
   <translation>Im Speicher liegen {part}, die zuletzt benutzten; die anderen werden von der Festplatte gelesen, wenn ein Token sie wählt: bis zu {size} GB je Token, was etwa {seconds} s dauert.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Memory in all</source>
   <translation>Speicher insgesamt</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Memory it would take</source>
   <translation>Speicher, den es bräuchte</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>Memory: {parts}</source>
   <translation>Speicher: {parts}</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Menu</source>
   <translation>Menü</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Merge two sorted lists in Python</source>
   <translation>Verbinde zwei sortierte Listen in Python</translation>
  </message>
  <message>
   <location filename="app/ui/composer/prompt_edit.py" />
   <source>Message</source>
   <translation>Nachricht</translation>
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Messages</source>
   <translation>Nachrichten</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Min p</source>
   <translation>Min p</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions was chosen: several drafts guess, and the model checks what they say together.</source>
   <translation>Minions wurde gewählt: Mehrere Entwürfe raten, und das Modell prüft, was sie zusammen sagen.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Minions' selector</source>
   <translation>Minions’ Auswahl</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: a draft of whose guesses a larger share is right on average gains weight.</source>
   <translation>Minions: ein Entwurf, von dessen Vorschlägen im Mittel ein größerer Anteil stimmt, gewinnt Gewicht.</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: a draft of whose guesses a smaller share is right on average loses weight.</source>
   <translation>Minions: ein Entwurf, von dessen Vorschlägen im Mittel ein kleinerer Anteil stimmt, verliert Gewicht.</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: each check changes the weights of all drafts; else only of the one that was voted for.</source>
   <translation>Minions: jede Prüfung ändert die Gewichte aller Entwürfe; sonst nur das des gewählten.</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: the model checks the best guesses of all drafts; else the one line that most votes are for.</source>
   <translation>Minions: das Modell prüft die besten Vorschläge aller Entwürfe; sonst nur die eine Folge mit den meisten Stimmen.</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: the weight of a draft that is punished is multiplied by this.</source>
   <translation>Minions: das Gewicht eines Entwurfs, der bestraft wird, wird damit multipliziert.</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: the weight of a draft that is rewarded is multiplied by this.</source>
   <translation>Minions: das Gewicht eines Entwurfs, der belohnt wird, wird damit multipliziert.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mirror</source>
   <translation>Spiegelserver</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing are chapters that are damaged or not there: {numbers}.</source>
   <translation>Es fehlen Kapitel, die beschädigt oder nicht vorhanden sind: {numbers}.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing are damaged pages: {numbers}.</source>
   <translation>Es fehlen beschädigte Seiten: {numbers}.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing are pages that are pictures without text: {numbers}.</source>
   <translation>Es fehlen Seiten, die Bilder ohne Text sind: {numbers}.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing is the text after “{words}”.</source>
   <translation>Es fehlt der Text nach „{words}“.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing is the text of embedded charts, diagrams and documents.</source>
   <translation>Es fehlt der Text eingebetteter Diagramme, Schaubilder und Dokumente.</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Mistral 3 (text part)</source>
   <translation>Mistral 3 (Textteil)</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mode</source>
   <translation>Modus</translation>
  </message>
  <message>
   <location filename="app/ui/composer/mode_button.py" />
   <source>Mode: {mode}</source>
   <translation>Modus: {mode}</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Model to plan</source>
   <translation>Modell für den Plan</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>Model's default</source>
   <translation>Vorgabe des Modells</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Model's own</source>
   <translation>Vom Modell</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Model: {model}</source>
   <translation>Modell: {model}</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Model: {model}, {state}</source>
   <translation>Modell: {model}, {state}</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Model: {name}</source>
   <translation>Modell: {name}</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>Models (*.gguf *.safetensors *.json *.model *.bin)</source>
   <translation>Modelle (*.gguf *.safetensors *.json *.model *.bin)</translation>
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Models (*.gguf *.safetensors)</source>
   <translation>Modelle (*.gguf *.safetensors)</translation>
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Models and speed</source>
   <translation>Modelle und Tempo</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Models of other programs are used where they are. Nothing there is ever changed.</source>
   <translation>Modelle anderer Programme werden dort benutzt, wo sie sind. Dort wird nie etwas geändert.</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>Models stay. Files that you have exported stay where you saved them.</source>
   <translation>Modelle bleiben. Exportierte Dateien bleiben, wo sie gespeichert wurden.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Models to get</source>
   <translation>Modelle zum Holen</translation>
  </message>
  <message>
   <location filename="app/ui/composer/mode_button.py" />
   <source>Modes</source>
   <translation>Modi</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Modes that need a draft take {draft}</source>
   <translation>Modi mit Entwurf nehmen {draft}</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>More about {name}</source>
   <translation>Mehr über {name}</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>More for presets</source>
   <translation>Mehr zu Vorlagen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>More for this message</source>
   <translation>Mehr zu dieser Nachricht</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>More for this reply</source>
   <translation>Mehr zu dieser Antwort</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>More models</source>
   <translation>Weitere Modelle</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>More than one installed model is {name}: name {either}.</source>
   <translation>Mehr als ein installiertes Modell heißt {name}: {either} angeben.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>More than {size} came in one answer, which no honest one has: check the address of the server, and the proxy.</source>
   <translation>In einer Antwort kamen mehr als {size}, was keine ehrliche hat: die Adresse des Servers und den Proxy prüfen.</translation>
  </message>
  <message>
   <location filename="app/chat/recommendation.py" />
   <source>Most capable</source>
   <translation>Am fähigsten</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most layers of the model in the GPU's memory; more is faster until it is full.</source>
   <translation>Höchstzahl der Schichten im Speicher der GPU; mehr ist schneller, bis er voll ist.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most memory that the engine takes; weights beyond it are read from the disk again and again.</source>
   <translation>Speicher, den die Engine höchstens nimmt; Gewichte darüber hinaus werden immer wieder von der Festplatte gelesen.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most of the GPU's memory that the engine takes; 0 leaves the GPU alone.</source>
   <translation>GPU-Speicher, den die Engine höchstens nimmt; 0 lässt die GPU in Ruhe.</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Move</source>
   <translation>Verschieben</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Move chat to folder...</source>
   <translation>Chat in Ordner verschieben...</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Move the models to an empty folder</source>
   <translation>Modelle in einen leeren Ordner verschieben</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Move the models?</source>
   <translation>Modelle verschieben?</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Move to folder</source>
   <translation>In Ordner verschieben</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Move...</source>
   <translation>Verschieben...</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Moving the models</source>
   <translation>Modelle ziehen um</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Multilingual, good at following instructions, with a long context.</source>
   <translation>Mehrsprachig, befolgt Anweisungen gut, mit langem Kontext.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>NVIDIA keeps the wheels for Jetson in an index for each JetPack release, so give the address of the one for yours with --index.</source>
   <translation>NVIDIA führt die Wheels für Jetson je JetPack-Version in einem eigenen Index: mit --index die Adresse des passenden angeben.</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Name</source>
   <translation>Name</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_delegate.py" />
   <source>Name of the folder</source>
   <translation>Name des Ordners</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Name of the new folder</source>
   <translation>Name des neuen Ordners</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Name of the new preset</source>
   <translation>Name der neuen Vorlage</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>Needs a GPU, and the GPU memory budget of 0 leaves it alone.</source>
   <translation>Braucht eine GPU, und das Budget von 0 lässt sie in Ruhe.</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>Needs a GPU, and there is none that Tenon can use here.</source>
   <translation>Braucht eine GPU, und hier gibt es keine, die Tenon nutzen kann.</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>Needs a draft of another kind: choose one in the menu of models.</source>
   <translation>Braucht einen Entwurf anderer Art: im Menü der Modelle einen wählen.</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>Needs a draft: choose one in the menu of models.</source>
   <translation>Braucht einen Entwurf: im Menü der Modelle wählen.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Network</source>
   <translation>Netz</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Network disk</source>
   <translation>Netzlaufwerk</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Never</source>
   <translation>Nie</translation>
  </message>
  <message>
   <location filename="app/chat/title.py" />
   <source>New chat</source>
   <translation>Neuer Chat</translation>
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>New chat (Ctrl+N)</source>
   <translation>Neuer Chat (Strg+N)</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>New chats start with this preset</source>
   <translation>Neue Chats beginnen mit dieser Vorlage</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>New each time</source>
   <translation>Jedes Mal neu</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>New folder...</source>
   <translation>Neuer Ordner...</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>New key</source>
   <translation>Neuer Schlüssel</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Next chat</source>
   <translation>Nächster Chat</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Next place</source>
   <translation>Nächste Stelle</translation>
  </message>
  <message>
   <location filename="app/ui/find_in_chat.py" />
   <source>Next place found</source>
   <translation>Nächste Fundstelle</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Next version</source>
   <translation>Nächste Version</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>No GPU that Tenon can use</source>
   <translation>Keine GPU, die Tenon nutzen kann</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>No account and no telemetry. Models come from Hugging Face.</source>
   <translation>Kein Konto und keine Telemetrie. Modelle kommen von Hugging Face.</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>No backup has it.</source>
   <translation>Keine Sicherung enthält ihn.</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>No command and no article has these letters.</source>
   <translation>Kein Befehl und kein Artikel hat diese Buchstaben.</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>No draft came with this model: modes that need one cannot run</source>
   <translation>Zu diesem Modell gehört kein Entwurf: Modi, die einen brauchen, laufen nicht</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>No graphics card</source>
   <translation>Keine Grafikkarte</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>No graphics card was found that GPU support could be fetched for.</source>
   <translation>Es wurde keine Grafikkarte gefunden, für die sich GPU-Unterstützung holen ließe.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>No limit</source>
   <translation>Keine Grenze</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>No mode has an option {name}: choose {names}.</source>
   <translation>Eine Option {name} hat kein Modus: {names} wählen.</translation>
  </message>
  <message>
   <location filename="engine/planning/mode_plan.py" />
   <source>No mode that this version has can run this model here.</source>
   <translation>Kein Modus dieser Version kann dieses Modell hier ausführen.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>No model is in memory.</source>
   <translation>Kein Modell ist im Speicher.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/page_stack.py" />
   <source>No setting was found: try another word, or choose another page.</source>
   <translation>Keine Einstellung gefunden: ein anderes Wort oder eine andere Seite versuchen.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>No step is chosen.</source>
   <translation>Kein Schritt ist gewählt.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>No text.</source>
   <translation>Kein Text.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>None</source>
   <translation>Ohne</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>None of the usual ones fits in its memory; the page Models has all of them.</source>
   <translation>Keines der üblichen passt in seinen Speicher; auf der Seite Modelle stehen alle.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>None yet</source>
   <translation>Noch nichts</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>Not even one layer fits into what is free of the GPU's memory, {free_bytes}.</source>
   <translation>Nicht einmal eine Schicht passt in den freien Speicher der GPU, {free_bytes}.</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Not for {model}: {reason}</source>
   <translation>Nicht für {model}: {reason}</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Not found: {place}</source>
   <translation>Nicht gefunden: {place}</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Not possible now</source>
   <translation>Jetzt nicht möglich</translation>
  </message>
  <message>
   <location filename="app/ui/choice_popup.py" />
   <source>Not possible: {reason}</source>
   <translation>Nicht möglich: {reason}</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Nothing found</source>
   <translation>Nichts gefunden</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/sidebar.py" />
   <source>Nothing found.</source>
   <translation>Nichts gefunden.</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Nothing found: try fewer words or filters.</source>
   <translation>Nichts gefunden: weniger Wörter oder Filter versuchen.</translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>Nothing found: try other words.</source>
   <translation>Nichts gefunden: andere Wörter versuchen.</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>Nothing of this session is saved, so nothing can be imported: make room for it first.</source>
   <translation>Nichts aus dieser Sitzung wird gespeichert, also lässt sich nichts importieren: erst Platz schaffen.</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>Nothing of this session is saved.</source>
   <translation>Von dieser Sitzung wird nichts gespeichert.</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Nothing to import: give a folder, a GGUF file, or the files of one model.</source>
   <translation>Nichts zu importieren: einen Ordner, eine GGUF-Datei oder die Dateien eines einzigen Modells angeben.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Nothing was drafted for this reply</source>
   <translation>Für diese Antwort gab es keinen Entwurf</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Now</source>
   <translation>Jetzt</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Number format of keys and values; 8 bits take half the memory and are a little less exact.</source>
   <translation>Zahlenformat der Keys und Values; 8 Bit brauchen halb so viel Speicher und sind etwas ungenauer.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Number format of the weights in memory; fewer bits are smaller and faster, and less exact.</source>
   <translation>Zahlenformat der Gewichte im Speicher; weniger Bits sind kleiner und schneller, aber ungenauer.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Of {all} tokens, this many were thoughts before the answer.</source>
   <translation>So viele von {all} Tokens waren Gedanken vor der Antwort.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>Off</source>
   <translation>Aus</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>Offline mode is on, so {url} is not asked.</source>
   <translation>Der Offline-Modus ist an, daher wird {url} nicht gefragt.</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Older</source>
   <translation>Älter</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>On</source>
   <translation>An</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>On a server</source>
   <translation>Auf einem Server</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>On battery most computers are slower: plug it in to measure.</source>
   <translation>Mit Akku sind die meisten Computer langsamer: zum Messen ans Netz anschließen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>On servers</source>
   <translation>Auf Servern</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>On this computer</source>
   <translation>Auf diesem Computer</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>On {server}, {address}</source>
   <translation>Auf {server}, {address}</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>One of the two folders is in the other: choose a folder elsewhere.</source>
   <translation>Einer der beiden Ordner liegt im anderen: einen Ordner an anderer Stelle wählen.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/reading.py" />
   <source>Only files exported by Tenon, its backups and ChatGPT's conversations.json can be imported.</source>
   <translation>Nur Dateien, die Tenon exportiert hat, seine Sicherungen und die conversations.json von ChatGPT können importiert werden.</translation>
  </message>
  <message>
   <location filename="engine/model/loader.py" />
   <source>Only {count} of {rows} rows of {name} were filled; report this as a bug.</source>
   <translation>Nur {count} von {rows} Zeilen von {name} wurden gefüllt: dies als Fehler melden.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open This machine</source>
   <translation>Dieser Computer öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Open a model file...</source>
   <translation>Modelldatei öffnen...</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Open a model folder...</source>
   <translation>Modellordner öffnen...</translation>
  </message>
  <message>
   <location filename="app/ui/file_drops.py" />
   <source>Open as a model, in a new chat</source>
   <translation>Als Modell öffnen, in neuem Chat</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Open data folder</source>
   <translation>Datenordner öffnen</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Open folder</source>
   <translation>Ordner öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Open its page</source>
   <translation>Seite öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Open link</source>
   <translation>Link öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Open log folder</source>
   <translation>Protokollordner öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Open model file</source>
   <translation>Modelldatei öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Open model folder</source>
   <translation>Modellordner öffnen</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open models</source>
   <translation>Modelle öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Open page</source>
   <translation>Seite öffnen</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open settings</source>
   <translation>Einstellungen öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Open the chat or the message</source>
   <translation>Chat oder Nachricht öffnen</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open the data folder</source>
   <translation>Datenordner öffnen</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Open this link in your browser?</source>
   <translation>Diesen Link im Browser öffnen?</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Opens the inspector</source>
   <translation>Öffnet den Inspektor</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Other programs</source>
   <translation>Andere Programme</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Other programs kept the machine busy meanwhile: it is measured again when it rests.</source>
   <translation>Andere Programme haben den Computer dabei beschäftigt: Es wird noch einmal gemessen, wenn er ruht.</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Out of the folder</source>
   <translation>Aus dem Ordner nehmen</translation>
  </message>
  <message>
   <location filename="engine/modes/ppd.py" />
   <source>PPD was chosen: prompt tokens let the model guess further ahead in the same pass in which it checks its earlier guesses.</source>
   <translation>PPD wurde gewählt: mit Prompt-Tokens rät das Modell weiter voraus, im selben Durchlauf, in dem es seine früheren Vermutungen prüft.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/page_list.py" />
   <source>Pages of settings</source>
   <translation>Seiten der Einstellungen</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Paired</source>
   <translation>Gepaart</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Panels and marks</source>
   <translation>Bereiche und Markierungen</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Part of the model is missing</source>
   <translation>Ein Teil des Modells fehlt</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>Partial offload</source>
   <translation>Teil-Offload</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>Partial offload was chosen: the first layers on the GPU, the others on the CPU.</source>
   <translation>Teil-Offload wurde gewählt: die ersten Schichten auf der GPU, die anderen auf der CPU.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Pause</source>
   <translation>Pause</translation>
  </message>
  <message>
   <location filename="app/ui/models/download_list.py" />
   <source>Pause {name}</source>
   <translation>{name} anhalten</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Paused, {share}</source>
   <translation>Angehalten, {share}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Paused. What has come stays on the disk.</source>
   <translation>Angehalten. Was schon da ist, bleibt auf der Festplatte.</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Pin</source>
   <translation>Anheften</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Pinned</source>
   <translation>Angeheftet</translation>
  </message>
  <message>
   <location filename="engine/modes/plain.py" />
   <source>Plain</source>
   <translation>Normal</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Plain decoding</source>
   <translation>Normales Dekodieren</translation>
  </message>
  <message>
   <location filename="engine/modes/plain.py" />
   <source>Plain decoding was chosen: one token for each pass.</source>
   <translation>Normales Dekodieren wurde gewählt: je Durchlauf ein Token.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Plain decoding would have reached {speed}, measured during this reply.</source>
   <translation>Normales Dekodieren hätte {speed} erreicht, gemessen während dieser Antwort.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Plain, fluent writing and conversation.</source>
   <translation>Schlichtes, flüssiges Schreiben und Gespräche.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Plan</source>
   <translation>Plan</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>Plan for {model}</source>
   <translation>Plan für {model}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>Plan: {rows}</source>
   <translation>Plan: {rows}</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Port</source>
   <translation>Port</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Port of this computer, 1 to 65535</source>
   <translation>Port dieses Computers, 1 bis 65535</translation>
  </message>
  <message>
   <location filename="engine/server/serving.py" />
   <source>Port {port} cannot be used ({reason}): choose another.</source>
   <translation>Port {port} ist nicht nutzbar ({reason}): einen anderen wählen.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Precision of the cache</source>
   <translation>Genauigkeit des Caches</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Precision of the weights</source>
   <translation>Genauigkeit der Gewichte</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Predicted</source>
   <translation>Vorhergesagt</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Predicted from this machine's speeds and from replies of this model here.</source>
   <translation>Vorhergesagt aus den Geschwindigkeiten dieses Computers und aus hiesigen Antworten dieses Modells.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Predicted from this machine's speeds.</source>
   <translation>Vorhergesagt aus den Geschwindigkeiten dieses Computers.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Preset</source>
   <translation>Vorlage</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Press the button</source>
   <translation>Knopf drücken</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Previous 7 days</source>
   <translation>Vorige 7 Tage</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Previous chat</source>
   <translation>Voriger Chat</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Previous place</source>
   <translation>Vorige Stelle</translation>
  </message>
  <message>
   <location filename="app/ui/find_in_chat.py" />
   <source>Previous place found</source>
   <translation>Vorige Fundstelle</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Previous version</source>
   <translation>Vorige Version</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Privacy and data</source>
   <translation>Privatsphäre und Daten</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Processor</source>
   <translation>Prozessor</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Processor threads</source>
   <translation>Prozessor-Threads</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Programs and tools in long contexts, in English and Chinese; it answers at the speed of a small model.</source>
   <translation>Programme und Werkzeuge in langen Kontexten, auf Englisch und Chinesisch; es antwortet so schnell wie ein kleines Modell.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Programs are answered with {model}.</source>
   <translation>Programmen antwortet {model}.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Programs that speak Anthropic's or Ollama's protocol take it without /v1.</source>
   <translation>Programme mit dem Protokoll von Anthropic oder Ollama bekommen sie ohne /v1.</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>Programs with OpenAI's library</source>
   <translation>Programme mit der Bibliothek von OpenAI</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Prompt</source>
   <translation>Prompt</translation>
  </message>
  <message>
   <location filename="engine/modes/lookup.py" />
   <source>Prompt lookup was chosen.</source>
   <translation>Nachschlagen im Prompt wurde gewählt.</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Prompt tokens in the draft</source>
   <translation>Prompt-Tokens im Entwurf</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Prompt: {prompt}</source>
   <translation>Prompt: {prompt}</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Proxy</source>
   <translation>Proxy</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Proxy or mirror</source>
   <translation>Proxy oder Spiegelserver</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Punish below</source>
   <translation>Bestrafen unter</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Punishment</source>
   <translation>Bestrafung</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>Put all settings back to their defaults, too</source>
   <translation>Auch alle Einstellungen auf ihre Vorgaben zurücksetzen</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Quantization</source>
   <translation>Quantisierung</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Quick answers and rewording in many languages.</source>
   <translation>Schnelle Antworten und Umformulieren in vielen Sprachen.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Quick answers, rewording and summaries of long texts.</source>
   <translation>Schnelle Antworten, Umformulieren und Zusammenfassungen langer Texte.</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Qwen2 with experts</source>
   <translation>Qwen2 mit Experten</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Qwen3 with experts</source>
   <translation>Qwen3 mit Experten</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>RAM, GB</source>
   <translation>RAM, GB</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>ROCm supports newer Radeon and Instinct cards alone, so look yours up in AMD's list before you fetch it.</source>
   <translation>ROCm unterstützt nur neuere Karten der Reihen Radeon und Instinct: vor dem Holen in der Liste von AMD nachsehen, ob die eigene dabei ist.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Raise the memory budget</source>
   <translation>Speicherbudget erhöhen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Read from the disk</source>
   <translation>Von der Festplatte gelesen</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Reading its files</source>
   <translation>Dateien werden gelesen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Reading the prompt</source>
   <translation>Prompt wird gelesen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Reading the prompt, {percent}</source>
   <translation>Prompt wird gelesen, {percent}</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Reading the prompt, {share}</source>
   <translation>Prompt wird gelesen, {share}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Reads {rate}</source>
   <translation>Liest {rate}</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Reasoning, code and writing in many languages.</source>
   <translation>Schlussfolgern, Code und Schreiben in vielen Sprachen.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Reasoning, code and writing; strong for its size.</source>
   <translation>Schlussfolgern, Code und Schreiben; stark für seine Größe.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Reasoning, mathematics and code in short chats.</source>
   <translation>Schlussfolgern, Mathematik und Code in kurzen Chats.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Reasons before it answers; 3.6 billion of its weights work on each token.</source>
   <translation>Denkt nach, bevor es antwortet; an jedem Token arbeiten 3,6 Milliarden seiner Gewichte.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Reload with a smaller context</source>
   <translation>Mit kleinerem Kontext neu laden</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Remove from the list</source>
   <translation>Aus der Liste nehmen</translation>
  </message>
  <message>
   <location filename="app/ui/composer/attachment_row.py" />
   <source>Remove {name}</source>
   <translation>{name} entfernen</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Remove {name}?</source>
   <translation>{name} entfernen?</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Remove, frees {size}</source>
   <translation>Entfernen, gibt {size} frei</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Remove...</source>
   <translation>Entfernen...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Removing...</source>
   <translation>Wird entfernt...</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Rename</source>
   <translation>Umbenennen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Rename chat</source>
   <translation>Chat umbenennen</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Rename folder</source>
   <translation>Ordner umbenennen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Rename “{name}”...</source>
   <translation>„{name}“ umbenennen...</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Repetition penalty</source>
   <translation>Wiederholungsstrafe</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Replies</source>
   <translation>Antworten</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>Replies in {name} weights will be slow: this processor has neither AVX2 nor ARM's dot products.</source>
   <translation>Antworten mit Gewichten in {name} werden langsam sein: dieser Prozessor hat weder AVX2 noch die Dot-Product-Befehle von ARM.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>Replies in {name} weights will be slow: {why}</source>
   <translation>Antworten mit Gewichten in {name} werden langsam sein: {why}</translation>
  </message>
  <message>
   <location filename="engine/text/output_form.py" />
   <source>Replies of this model cannot be held to a form: use another model.</source>
   <translation>Antworten dieses Modells lassen sich nicht an eine Form binden: ein anderes Modell verwenden.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply.py" />
   <source>Reply</source>
   <translation>Antwort</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Requests that run</source>
   <translation>Laufende Anfragen</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Requests that wait</source>
   <translation>Wartende Anfragen</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Reset all</source>
   <translation>Alles zurücksetzen</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Reset settings</source>
   <translation>Einstellungen zurücksetzen</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Reset {setting}</source>
   <translation>{setting} zurücksetzen</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Residual speculative sampling</source>
   <translation>Residuales spekulatives Sampling</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Residual speculative sampling, siblings with replacement</source>
   <translation>Residuales spekulatives Sampling, Geschwister mit Zurücklegen</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Restart</source>
   <translation>Neu starten</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Restore from the archive</source>
   <translation>Aus dem Archiv holen</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Reward</source>
   <translation>Belohnung</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Reward above</source>
   <translation>Belohnen über</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Room between rows and between messages.</source>
   <translation>Abstand zwischen Zeilen und Nachrichten.</translation>
  </message>
  <message>
   <location filename="app/bridge/power_watch.py" />
   <source>Running on battery: replies may be slower.</source>
   <translation>Akkubetrieb: Antworten sind vielleicht langsamer.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Runs each usable mode on the same prompts. Speeds in tok/s.</source>
   <translation>Lässt jeden nutzbaren Modus dieselben Prompts beantworten. Geschwindigkeiten in tok/s.</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Runs language models on this computer. Nothing you write leaves it.</source>
   <translation>Lässt Sprachmodelle auf diesem Computer laufen. Nichts Geschriebenes verlässt ihn.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Runs on this computer. Replies can be wrong, so check what matters.</source>
   <translation>Läuft auf diesem Computer. Antworten können falsch sein, Wichtiges also prüfen.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>SSD</source>
   <translation>SSD</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Sample and match</source>
   <translation>Ziehen und vergleichen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save as new preset...</source>
   <translation>Als neue Vorlage speichern...</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save in “{name}”</source>
   <translation>In „{name}“ speichern</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Saved as {name}.</source>
   <translation>Gespeichert als {name}.</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Scroll by a page</source>
   <translation>Eine Seite blättern</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Scroll the messages by a page</source>
   <translation>Nachrichten um eine Seite blättern</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Search all settings</source>
   <translation>Alle Einstellungen durchsuchen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Search chats</source>
   <translation>Chats suchen</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Search commands</source>
   <translation>Befehle suchen</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_news.py" />
   <source>Search models</source>
   <translation>Modelle suchen</translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>Search the help</source>
   <translation>Hilfe durchsuchen</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Second mode</source>
   <translation>Zweiter Modus</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Seed</source>
   <translation>Seed</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Select the whole message</source>
   <translation>Ganze Nachricht auswählen</translation>
  </message>
  <message>
   <location filename="app/ui/composer/send_button.py" />
   <source>Send</source>
   <translation>Senden</translation>
  </message>
  <message>
   <location filename="app/ui/composer/composer.py" />
   <source>Send (Enter)</source>
   <translation>Senden (Eingabe)</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_editor.py" />
   <source>Send it as a version of its own; the message before stays</source>
   <translation>Als eigene Version senden; die Nachricht davor bleibt</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Server for other programs</source>
   <translation>Server für andere Programme</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>Settings (*.json)</source>
   <translation>Einstellungen (*.json)</translation>
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>Settings cannot be saved in {folder} ({reason}): make it writable or free some space.</source>
   <translation>Einstellungen lassen sich in {folder} nicht speichern ({reason}): beschreibbar machen oder Platz schaffen.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Settings of programs</source>
   <translation>Einstellungen der Programme</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Settings shown</source>
   <translation>Gezeigte Einstellungen</translation>
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>Settings with values that are not allowed were reset: {names}.</source>
   <translation>Einstellungen mit nicht erlaubten Werten wurden zurückgesetzt: {names}.</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Settings...</source>
   <translation>Einstellungen...</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Several drafts guess and vote, and the model checks what they say together.</source>
   <translation>Mehrere Entwürfe raten und stimmen ab, und das Modell prüft, was sie zusammen sagen.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Shares the computer's memory</source>
   <translation>Teilt den Speicher des Computers</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Short answers and simple rewording; often wrong.</source>
   <translation>Kurze Antworten und einfaches Umformulieren; oft falsch.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Short answers and tool calls on weak computers.</source>
   <translation>Kurze Antworten und Werkzeugaufrufe auf schwachen Computern.</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/models_page.py" />
   <source>Show all %n model(s)</source>
   <translation>
    <numerusform>Das eine Modell zeigen</numerusform>
    <numerusform>Alle %n Modelle zeigen</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Show details</source>
   <translation>Details zeigen</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Show guesses while they are unconfirmed</source>
   <translation>Versuche zeigen, solange sie unbestätigt sind</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Show its folder</source>
   <translation>Ordner zeigen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/long_text.py" />
   <source>Show more</source>
   <translation>Mehr zeigen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/long_text.py" />
   <source>Show more ({shown} of {all})</source>
   <translation>Mehr zeigen ({shown} von {all})</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Show or hide the chats</source>
   <translation>Chats ein- oder ausblenden</translation>
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>Show or hide the chats (Ctrl+B)</source>
   <translation>Chats ein- oder ausblenden (Strg+B)</translation>
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>Show or hide the inspector (F12)</source>
   <translation>Inspektor ein- oder ausblenden (F12)</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Show the thoughts</source>
   <translation>Gedanken einblenden</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Shows what a file would change; Apply takes it over.</source>
   <translation>Zeigt, was eine Datei ändern würde; Übernehmen macht es gültig.</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Sign in on its page and accept the terms there, make an access token in the hub's settings, and paste it here. It is kept in the system's keyring.</source>
   <translation>Auf der Seite anmelden und dort die Bedingungen annehmen, in den Einstellungen des Hubs einen Zugangstoken anlegen und hier einfügen. Er liegt im Schlüsselbund des Systems.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Simple</source>
   <translation>Einfach</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Size</source>
   <translation>Größe</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Size of text</source>
   <translation>Schriftgröße</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Slow: Tenon's kernels are not there</source>
   <translation>Langsam: Tenons Kernels fehlen</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Slower than you read</source>
   <translation>Langsamer, als man liest</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Small and multilingual, with a long context.</source>
   <translation>Klein und mehrsprachig, mit langem Kontext.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Small models that guess words ahead for the large one; each model has its own.</source>
   <translation>Kleine Modelle, die für das große vorausraten; jedes Modell hat seine eigenen.</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Smaller text</source>
   <translation>Kleinere Schrift</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Some changes are not applied yet.</source>
   <translation>Einige Änderungen sind noch nicht übernommen.</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Some messages are in memory only, and are lost when Tenon closes.</source>
   <translation>Einige Nachrichten sind nur im Arbeitsspeicher und gehen verloren, wenn Tenon geschlossen wird.</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>Something could not be saved: restart Tenon, please.</source>
   <translation>Etwas konnte nicht gespeichert werden: Tenon bitte neu starten.</translation>
  </message>
  <message>
   <location filename="app/bridge/gpu_addon.py" />
   <source>Something unexpected went wrong with GPU support: try again, or look into the log.</source>
   <translation>Bei der GPU-Unterstützung ging etwas Unerwartetes schief: neu versuchen oder ins Protokoll sehen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Something went wrong</source>
   <translation>Etwas ging schief</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Spacing</source>
   <translation>Abstände</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Speed</source>
   <translation>Tempo</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Speed and memory</source>
   <translation>Tempo und Speicher</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>Speed by width</source>
   <translation>Geschwindigkeit nach Breite</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Speed never measured</source>
   <translation>Tempo nie gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>Speeds are guesses until this machine is measured.</source>
   <translation>Die Geschwindigkeiten sind geschätzt, bis dieser Computer gemessen ist.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>Speeds are predicted from measurements made here.</source>
   <translation>Die Geschwindigkeiten sind aus hiesigen Messungen vorhergesagt.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>Speeds in tok/s</source>
   <translation>Geschwindigkeiten in tok/s</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Speeds never measured</source>
   <translation>Geschwindigkeiten nie gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>Speeds were measured while other programs were busy, and will be measured again.</source>
   <translation>Die Geschwindigkeiten wurden gemessen, während andere Programme liefen, und werden neu gemessen.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Status</source>
   <translation>Status</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Status: {words}</source>
   <translation>Status: {words}</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Stay</source>
   <translation>Bleiben</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Stay here</source>
   <translation>Hier bleiben</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Stop</source>
   <translation>Stopp</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Stop measuring</source>
   <translation>Messung anhalten</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Stop replies that repeat themselves</source>
   <translation>Sich wiederholende Antworten anhalten</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Stop the reply</source>
   <translation>Antwort anhalten</translation>
  </message>
  <message>
   <location filename="app/ui/composer/send_button.py" />
   <source>Stop the reply (Esc)</source>
   <translation>Antwort anhalten (Esc)</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Stopped</source>
   <translation>Angehalten</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Stopping</source>
   <translation>Wird angehalten</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Stops a reply that goes round in a circle; under it you can let it go on.</source>
   <translation>Hält eine Antwort an, die sich im Kreis dreht; darunter lässt sie sich fortsetzen.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Switch off</source>
   <translation>Ausschalten</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Switch on</source>
   <translation>Einschalten</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>System prompt</source>
   <translation>System-Prompt</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/table.py" />
   <source>Table</source>
   <translation>Tabelle</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Take away all that this chat sets for itself</source>
   <translation>Alles wegnehmen, was dieser Chat selbst festlegt</translation>
  </message>
  <message>
   <location filename="app/ui/continue_line.py" />
   <source>Take turns instead</source>
   <translation>Lieber abwechselnd schreiben</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Takes no room; the model is gone when the files are moved or their disk is not there.</source>
   <translation>Braucht keinen Platz; das Modell ist weg, wenn die Dateien verschoben werden oder ihre Festplatte fehlt.</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>Takes the fastest mode for this model and this computer.</source>
   <translation>Nimmt den schnellsten Modus für dieses Modell und diesen Computer.</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>Technical details</source>
   <translation>Technische Details</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Tell when a reply is done</source>
   <translation>Fertige Antworten melden</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Temperature</source>
   <translation>Temperatur</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon cannot run GGUF files of the architecture {name}; choose another model. It runs {names}.</source>
   <translation>Tenon kann GGUF-Dateien der Architektur {name} nicht ausführen: ein anderes Modell wählen. Ausführbar sind {names}.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon cannot run this model</source>
   <translation>Tenon kann dieses Modell nicht ausführen</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon cannot run {architecture} with a text part of the type {kind}; it runs {names}. Choose another model.</source>
   <translation>Tenon kann {architecture} mit einem Textteil der Art {kind} nicht ausführen, nur {names}. Wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon cannot run {architecture}; choose a model of another family. It runs {names}.</source>
   <translation>Tenon kann {architecture} nicht ausführen: ein Modell einer anderen Familie wählen. Ausführbar sind {names}.</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>Tenon cannot write to {folder}: make it writable, or set TENON_DATA_DIR to another folder.</source>
   <translation>Tenon kann nicht in {folder} schreiben: beschreibbar machen oder TENON_DATA_DIR auf einen anderen Ordner setzen.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Tenon chats</source>
   <translation>Tenon-Chats</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon did not end as it should last time</source>
   <translation>Tenon wurde letztes Mal nicht ordentlich beendet</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>Tenon does not know how the tokenizer in the GGUF file splits a text (tokenizer.ggml.pre is {name}); choose a newer file of this model, or its safetensors version.</source>
   <translation>Tenon weiß nicht, wie der Tokenizer in der GGUF-Datei einen Text zerlegt (tokenizer.ggml.pre ist {name}): eine neuere Datei dieses Modells oder seine safetensors-Version wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>Tenon does not know how this model's tokenizer splits a text (tokenizer.ggml.pre is {name}) and splits it as other models of the same family do ({own}). Where replies are poor, try the model's safetensors version.</source>
   <translation>Tenon weiß nicht, wie der Tokenizer dieses Modells einen Text zerlegt (tokenizer.ggml.pre ist {name}), und zerlegt ihn wie andere Modelle derselben Familie ({own}). Sind die Antworten schlecht, versuchen Sie die safetensors-Fassung des Modells.</translation>
  </message>
  <message>
   <location filename="engine/hub/search.py" />
   <source>Tenon does not run {architecture}.</source>
   <translation>Tenon führt {architecture} nicht aus.</translation>
  </message>
  <message>
   <location filename="app/storage/conversation_store.py" />
   <source>Tenon ended before this reply was complete.</source>
   <translation>Tenon wurde beendet, bevor diese Antwort fertig war.</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon has no RoPE of the type {kind} in GGUF files; choose another model.</source>
   <translation>Tenon kennt in GGUF-Dateien kein RoPE vom Typ {kind}: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/rope.py" />
   <source>Tenon has no RoPE of the type {kind}; the types are {names}.</source>
   <translation>Tenon kennt kein RoPE vom Typ {kind}; die Typen sind {names}.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon has no activation {activation}; it has {names}.</source>
   <translation>Tenon kennt die Aktivierung {activation} nicht; es kennt {names}.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>Tenon has no activation {hidden_act}; choose another draft.</source>
   <translation>Tenon kennt die Aktivierung {hidden_act} nicht: einen anderen Entwurf wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon has no convolutions with a bias (conv_bias); choose another model.</source>
   <translation>Tenon hat keine Faltungen mit Bias (conv_bias); wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>Tenon has no draft of the kind {speculators}; it runs EAGLE-1 to 3, P-EAGLE, DFlash, DSpark, IBM's MLP speculators and Dovetail's gated fusion.</source>
   <translation>Tenon kennt keinen Entwurf der Art {speculators}; es führt EAGLE-1 bis 3, P-EAGLE, DFlash, DSpark, IBMs MLP-Speculators und Dovetails gesteuerte Fusion aus.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>Tenon has no draft with LongRoPE; choose another draft.</source>
   <translation>Tenon kennt keine Entwürfe mit LongRoPE: einen anderen Entwurf wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon has no heads whose keys and values differ in size; choose another model.</source>
   <translation>Tenon kennt keine Köpfe, deren Keys und Values verschieden groß sind: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/packed_loader.py" />
   <source>Tenon has no kernels for {kinds}, so the model's matrices in it are computed with as Q8_0.</source>
   <translation>Für {kinds} hat Tenon keine Kernel, daher wird mit diesen Matrizen des Modells als Q8_0 gerechnet.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon has no layers of the type {unknown}; choose another model.</source>
   <translation>Tenon kennt keine Schichten vom Typ {unknown}: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/rope.py" />
   <source>Tenon has no multimodal RoPE (mrope_section); choose the text-only model.</source>
   <translation>Tenon kennt kein multimodales RoPE (mrope_section): das reine Textmodell wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/rope.py" />
   <source>Tenon has no partial_rotary_factor ({fraction}) in this architecture; choose another model.</source>
   <translation>Tenon kennt partial_rotary_factor ({fraction}) in dieser Architektur nicht: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>Tenon has no tokenizer of the kind {kind} in GGUF files; choose another model, or its safetensors version.</source>
   <translation>Tenon kennt in GGUF-Dateien keinen Tokenizer der Art {kind}: ein anderes Modell oder seine safetensors-Version wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon has no {feature} in {name}; choose another model.</source>
   <translation>Tenon kennt {feature} in {name} nicht: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon has no {key} ({found}) in GGUF files of {architecture}; choose another model.</source>
   <translation>Tenon kennt {key} ({found}) in GGUF-Dateien von {architecture} nicht: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon has rope.scaling.attn_factor with LongRoPE alone; choose another model.</source>
   <translation>Tenon kennt rope.scaling.attn_factor nur mit LongRoPE: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon knows {feature} as {known} alone, and this model has {found}; choose another model.</source>
   <translation>Tenon kennt {feature} nur als {known}, und dieses Modell hat {found}; wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon made a mistake</source>
   <translation>Tenon hat einen Fehler gemacht</translation>
  </message>
  <message>
   <location filename="app/bridge/uncaught.py" />
   <source>Tenon made a mistake and goes on: restart it if something looks wrong, and report the details.</source>
   <translation>Tenon hat einen Fehler gemacht und läuft weiter: neu starten, wenn etwas falsch aussieht, und die Details melden.</translation>
  </message>
  <message>
   <location filename="engine/engine.py" />
   <source>Tenon made a mistake and stopped this reply: try again, and report it if it comes back.</source>
   <translation>Tenon hat einen Fehler gemacht und diese Antwort angehalten: neu versuchen und melden, wenn es wieder geschieht.</translation>
  </message>
  <message>
   <location filename="app/bridge/worker.py" />
   <source>Tenon made a mistake here: try again, and report it if it comes back.</source>
   <translation>Tenon hat hier einen Fehler gemacht: noch einmal versuchen und melden, falls er wiederkommt.</translation>
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Tenon opens model folders, GGUF files and exported chats, not {name}.</source>
   <translation>Tenon öffnet Modellordner, GGUF-Dateien und exportierte Chats, nicht {name}.</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Tenon opens web and mail links only, not this one: {address}</source>
   <translation>Tenon öffnet nur Web- und Mail-Links, nicht diesen: {address}</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon runs causal models, and this one sets use_bidirectional_attention; choose another model.</source>
   <translation>Tenon führt kausale Modelle aus, dieses aber setzt use_bidirectional_attention: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon runs models whose layers are alike, and {key} differs between this one's; choose another model.</source>
   <translation>Tenon führt Modelle mit gleichartigen Schichten aus, und {key} ist bei diesem von Schicht zu Schicht verschieden: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>Tenon runs no draft with blocks of the type {model_type}; choose one with Llama's.</source>
   <translation>Tenon führt keine Entwürfe mit Blöcken vom Typ {model_type} aus: einen mit Blöcken von Llama wählen.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>Tenon runs the text part of this model alone: it takes no images and no sound.</source>
   <translation>Tenon führt nur den Textteil dieses Modells aus: Es nimmt weder Bilder noch Ton an.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>Tenon uses Apple's GPU as it is: there is nothing to fetch.</source>
   <translation>Tenon nutzt die GPU von Apple, wie sie ist: es gibt nichts zu holen.</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Tenon was updated while it was open. Restart it to use the new version.</source>
   <translation>Tenon wurde aktualisiert, während es offen war. Neu starten, um die neue Version zu benutzen.</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Tenon {latest} is there; this is {own}.</source>
   <translation>Tenon {latest} ist da; dies ist {own}.</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>Tenon {size} GB</source>
   <translation>Tenon {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Tenon {version}</source>
   <translation>Tenon {version}</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Tenon's own models</source>
   <translation>Tenons eigene Modelle</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/highlighting.py" />
   <source>Text</source>
   <translation>Text</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Text and colours</source>
   <translation>Schrift und Farben</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Text that the model reads before each conversation, such as its role or a style.</source>
   <translation>Text, den das Modell vor jeder Unterhaltung liest, etwa seine Rolle oder ein Stil.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Text that the model reads before the chat; blank for none.</source>
   <translation>Text, den das Modell vor dem Chat liest; leer für keinen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>The GGUF file does not say how its tokenizer splits a text (tokenizer.ggml.pre), so replies may be poor: a newer file of this model says it.</source>
   <translation>Die GGUF-Datei sagt nicht, wie ihr Tokenizer einen Text zerlegt (tokenizer.ggml.pre), daher können Antworten schlecht sein: Eine neuere Datei dieses Modells sagt es.</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>The GGUF file has no tokenizer: download another file of this model.</source>
   <translation>Die GGUF-Datei hat keinen Tokenizer: eine andere Datei dieses Modells herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>The GGUF file names no architecture; choose another file of this model.</source>
   <translation>Die GGUF-Datei nennt keine Architektur: eine andere Datei dieses Modells wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>The GGUF file {name} is damaged or cut short ({problem}); download it again.</source>
   <translation>Die GGUF-Datei {name} ist beschädigt oder abgeschnitten ({problem}): neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The GPU and the CPU share one memory, which has no room for what both would need.</source>
   <translation>GPU und CPU teilen sich den Arbeitsspeicher, und darin ist kein Platz für das, was beide bräuchten.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU has less memory than planned, so the model was loaded differently: {summary}.</source>
   <translation>Die GPU hat weniger Speicher als geplant, daher wurde das Modell anders geladen: {summary}.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU ran out of memory, and the model's layers that were there need {needed} GB of memory, of which {free} GB are free: set the GPU memory budget to 0 and ask again.</source>
   <translation>Der GPU ging der Speicher aus, und die Schichten des Modells, die dort lagen, brauchen {needed} GB Arbeitsspeicher, von denen {free} GB frei sind: das Budget an GPU-Speicher auf 0 setzen und neu fragen.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU ran out of memory, so the model's layers move to the CPU and the reply goes on there in {name} weights.</source>
   <translation>Der GPU ging der Speicher aus, daher ziehen die Schichten des Modells auf die CPU um, und die Antwort geht dort mit Gewichten in {name} weiter.</translation>
  </message>
  <message>
   <location filename="engine/engine.py" />
   <source>The GPU ran out of memory: give it less of the model with a smaller GPU memory budget, or close other programs that use it.</source>
   <translation>Der GPU ging der Speicher aus: ihr mit einem kleineren Budget an GPU-Speicher weniger vom Modell geben oder andere Programme schließen, die sie benutzen.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU stopped working ({reason}), and the model's layers that were there need {needed} GB of memory, of which {free} GB are free: set the GPU memory budget to 0 and ask again.</source>
   <translation>Die GPU arbeitet nicht mehr ({reason}), und die Schichten des Modells, die dort lagen, brauchen {needed} GB Arbeitsspeicher, von denen {free} GB frei sind: das Budget an GPU-Speicher auf 0 setzen und neu fragen.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU stopped working ({reason}), so the model was loaded without it: {summary}.</source>
   <translation>Die GPU arbeitet nicht mehr ({reason}), daher wurde das Modell ohne sie geladen: {summary}.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU stopped working ({reason}), so the model's layers move to the CPU and the reply goes on there in {name} weights.</source>
   <translation>Die GPU arbeitet nicht mehr ({reason}), daher ziehen die Schichten des Modells auf die CPU um, und die Antwort geht dort mit Gewichten in {name} weiter.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The GPU's memory ran out</source>
   <translation>Der Speicher der GPU ist voll</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The GPU's memory takes {taken} of the {wanted} layers that were to be there.</source>
   <translation>In den Speicher der GPU passen {taken} der {wanted} Schichten, die dort liegen sollten.</translation>
  </message>
  <message>
   <location filename="engine/placement/column_shares.py" />
   <source>The GPU's share of the matrices {kind} is {ratio}, but it must be from 0 to 1.</source>
   <translation>Der Anteil der GPU an den Matrizen {kind} ist {ratio}, muss aber zwischen 0 und 1 liegen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The access token cannot be kept</source>
   <translation>Der Zugangstoken lässt sich nicht aufbewahren</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>The address holds a name or a key: leave it out, and give the key by itself.</source>
   <translation>Die Adresse enthält einen Namen oder einen Schlüssel: Lassen Sie ihn weg und geben Sie den Schlüssel für sich an.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The address is copied.</source>
   <translation>Die Adresse ist kopiert.</translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>The articles of the help are in English for now.</source>
   <translation>Die Artikel der Hilfe gibt es vorerst nur auf Englisch.</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The backup of {day} has {chats}: Import chats... takes in those of {path} that are not here.</source>
   <translation>Die Sicherung vom {day} hat {chats}: „Chats importieren...“ holt aus {path} die fehlenden.</translation>
  </message>
  <message>
   <location filename="app/storage/backup.py" />
   <source>The backup {name} could not be written again.</source>
   <translation>Die Sicherung {name} konnte nicht neu geschrieben werden.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The blocks of {name} and their scales do not fit together, so one of them is cut or missing; download the model again.</source>
   <translation>Die Blöcke von {name} und ihre Skalen passen nicht zusammen, also ist eines davon abgeschnitten oder fehlt; laden Sie das Modell erneut herunter.</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>The built-in model {model} is not here: {other} answers. The page Models has more.</source>
   <translation>Das eingebaute Modell {model} fehlt hier: {other} antwortet. Auf der Seite Modelle gibt es mehr.</translation>
  </message>
  <message>
   <location filename="engine/hub/catalogue.py" />
   <source>The catalogue has no {name}, but {names}: give one of its names, or a repository like owner/name.</source>
   <translation>Der Katalog hat kein {name}, aber {names}: einen seiner Namen angeben oder ein Repository wie owner/name.</translation>
  </message>
  <message>
   <location filename="engine/hub/catalogue.py" />
   <source>The catalogue has no {name}: give a repository like owner/name, or look with `tenon models search`.</source>
   <translation>Der Katalog hat kein {name}: ein Repository in der Form owner/name angeben oder mit `tenon models search` suchen.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The certificate of {server} is not trusted by this system: add your company's certificate to the system's store, or name its file in SSL_CERT_FILE.</source>
   <translation>Dem Zertifikat von {server} vertraut dieses System nicht: Fügen Sie das Zertifikat Ihrer Firma dem Speicher des Systems hinzu oder nennen Sie seine Datei in SSL_CERT_FILE.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The certificates cannot be read: check SSL_CERT_FILE and SSL_CERT_DIR.</source>
   <translation>Die Zertifikate sind nicht lesbar: SSL_CERT_FILE und SSL_CERT_DIR prüfen.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>The chat is archived. Search still finds it.</source>
   <translation>Der Chat ist archiviert. Die Suche findet ihn weiterhin.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The chat template in {name} cannot be used: that in {other} took its place.</source>
   <translation>Die Chatvorlage in {name} ist nicht zu gebrauchen: Die in {other} ist an ihre Stelle getreten.</translation>
  </message>
  <message>
   <location filename="engine/text/preparation.py" />
   <source>The chat template of this model has no such setting for thinking, so it has no effect.</source>
   <translation>Das Chat-Template dieses Modells hat keine solche Einstellung zum Nachdenken, daher bleibt sie ohne Wirkung.</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats could not be read: the damaged file is kept as {path}, and a new one is begun.</source>
   <translation>Die Chats waren nicht lesbar: die beschädigte Datei bleibt als {path} erhalten, eine neue ist angelegt.</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats could not be read: they are back as of the backup of {day}, and the damaged file is kept as {path}.</source>
   <translation>Die Chats waren nicht lesbar: sie sind auf dem Stand der Sicherung vom {day}, die beschädigte Datei bleibt als {path} erhalten.</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>The chats in {folder} are damaged: restart Tenon, or restore them from a backup.</source>
   <translation>Die Chats in {folder} sind beschädigt: Tenon neu starten oder sie aus einer Sicherung holen.</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>The chats in {folder} cannot be read or written ({reason}): check the disk.</source>
   <translation>Die Chats in {folder} lassen sich nicht lesen oder schreiben ({reason}): die Festplatte prüfen.</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats in {folder} come from a newer Tenon: install that version to open them.</source>
   <translation>Die Chats in {folder} stammen von einem neueren Tenon: diese Version installieren, um sie zu öffnen.</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>The chats were damaged, and no backup has the {count} damaged entries: each says that it is lost. The damaged file is kept as {path}.</source>
   <translation>Die Chats waren beschädigt, und keine Sicherung enthält die beschädigten Einträge ({count}): jeder zeigt an, dass er verloren ist. Die beschädigte Datei bleibt als {path} erhalten.</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>The chats were damaged: {back} of {count} damaged entries were restored from the backup of {day}, the others say that they are lost. The damaged file is kept as {path}.</source>
   <translation>Die Chats waren beschädigt: {back} von {count} beschädigten Einträgen sind aus der Sicherung vom {day} wiederhergestellt, die anderen zeigen an, dass sie verloren sind. Die beschädigte Datei bleibt als {path} erhalten.</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>The code is copied.</source>
   <translation>Der Code ist kopiert.</translation>
  </message>
  <message>
   <location filename="app/bridge/power_watch.py" />
   <source>The computer is hot: replies may be slower until it has cooled down.</source>
   <translation>Der Computer ist heiß: Antworten sind vielleicht langsamer, bis er abgekühlt ist.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>The config asks for {wanted} layers, heads and experts with weights of their own, and the files hold {found} tensors: put the files of one model together, or choose another one.</source>
   <translation>Die Konfiguration verlangt {wanted} Schichten, Köpfe und Experten mit eigenen Gewichten, und die Dateien enthalten {found} Tensoren: legen Sie die Dateien eines Modells zusammen, oder wählen Sie ein anderes.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The connection to the hub broke off: check the network, and try again.</source>
   <translation>Die Verbindung zum Hub brach ab: das Netz prüfen und neu versuchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The connection to the package index broke off: check the network, and try again.</source>
   <translation>Die Verbindung zum Paketindex brach ab: das Netz prüfen und neu versuchen.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The connection to {server} broke off before the reply was complete: try again.</source>
   <translation>Die Verbindung zu {server} brach ab, bevor die Antwort vollständig war: Versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <location filename="engine/planning/context_range.py" />
   <source>The context is {context} tokens, but this model takes {least} to {context_length}: choose a length between these, or none for the model's own.</source>
   <translation>Der Kontext ist {context} Tokens lang, dieses Modell nimmt aber {least} bis {context_length}: eine Länge dazwischen wählen, oder keine für die des Modells.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The copy of {name} is not the same: check the disk of {folder}.</source>
   <translation>Die Kopie von {name} ist nicht gleich: die Festplatte mit {folder} prüfen.</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>The details of this installation are copied.</source>
   <translation>Die Details dieser Installation sind kopiert.</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>The disk that holds {folder} is full: free some space, or new messages are not saved.</source>
   <translation>Die Festplatte mit {folder} ist voll: Platz schaffen, sonst werden neue Nachrichten nicht gespeichert.</translation>
  </message>
  <message>
   <location filename="engine/hub/download/download_queue.py" />
   <source>The download failed ({name}: {error}): try again.</source>
   <translation>Der Download ist gescheitert ({name}: {error}): neu versuchen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The download is not what it should be</source>
   <translation>Der Download ist nicht, was er sein sollte</translation>
  </message>
  <message>
   <location filename="engine/hub/download/room.py" />
   <source>The download needs {needed} and {reserve} should stay free, but the disk of {folder} has {free}: free some room, or move Tenon's data to another disk with TENON_DATA_DIR.</source>
   <translation>Der Download braucht {needed}, und {reserve} sollten frei bleiben, aber auf der Festplatte mit {folder} sind {free} frei: Platz schaffen oder Tenons Daten mit TENON_DATA_DIR auf eine andere Festplatte verlegen.</translation>
  </message>
  <message>
   <location filename="engine/hub/download/room.py" />
   <source>The download needs {needed}, {queued} are queued before it and {reserve} should stay free, but the disk of {folder} has {free}: free some room, or move Tenon's data to another disk with TENON_DATA_DIR.</source>
   <translation>Der Download braucht {needed}, die Downloads davor in der Warteschlange {queued}, und {reserve} sollten frei bleiben, aber auf der Festplatte mit {folder} sind {free} frei: Platz schaffen oder Tenons Daten mit TENON_DATA_DIR auf eine andere Festplatte verlegen.</translation>
  </message>
  <message>
   <location filename="engine/hub/download/stop.py" />
   <source>The download was stopped.</source>
   <translation>Der Download wurde angehalten.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The draft does not fit the model</source>
   <translation>Der Entwurf passt nicht zum Modell</translation>
  </message>
  <message>
   <location filename="engine/weights/head_checkpoint.py" />
   <source>The draft in {folder} is damaged: {tensor} holds numbers that are infinite or none (NaN). Download it again, or choose another draft.</source>
   <translation>Der Entwurf in {folder} ist beschädigt: {tensor} enthält Zahlen, die unendlich oder keine sind (NaN). Laden Sie ihn noch einmal herunter, oder wählen Sie einen anderen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft is for a model with a vocabulary of {vocabulary_size}, and this model's has {wanted}; choose a draft that was made for this model.</source>
   <translation>Der Entwurf ist für ein Modell mit einem Vokabular von {vocabulary_size}, dieses hat {wanted}: einen Entwurf wählen, der für dieses Modell gemacht ist.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft is for a model with hidden size {target_hidden_size}, and this model's is {hidden_size}; choose a draft that was made for this model.</source>
   <translation>Der Entwurf ist für ein Modell mit Hidden Size {target_hidden_size}, dieses hat {hidden_size}: einen Entwurf wählen, der für dieses Modell gemacht ist.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The draft needs {needed} GB of the GPU's memory and may take {budget} GB, so it runs on the CPU.</source>
   <translation>Der Entwurf braucht {needed} GB vom Speicher der GPU und darf nur {budget} GB nehmen, daher läuft er auf der CPU.</translation>
  </message>
  <message>
   <location filename="engine/drafting/fallback_drafter.py" />
   <source>The draft ran out of memory, so the reply goes on without it.</source>
   <translation>Dem Entwurf ging der Speicher aus, daher geht die Antwort ohne ihn weiter.</translation>
  </message>
  <message>
   <location filename="engine/drafting/assistant_network.py" />
   <source>The draft reads keys of the shape {heads} x {width}, and this model has none; choose a draft that was made for this model.</source>
   <translation>Der Entwurf liest Schlüssel der Form {heads} x {width}, und dieses Modell hat keine solchen: einen Entwurf wählen, der für dieses Modell gemacht ist.</translation>
  </message>
  <message>
   <location filename="engine/drafting/assistant_network.py" />
   <source>The draft reads the keys and values of a Gemma 4 model, and this one is of the family {family}; choose a draft that was made for this model.</source>
   <translation>Der Entwurf liest Schlüssel und Werte eines Gemma-4-Modells, und dieses ist aus der Familie {family}: einen Entwurf wählen, der für dieses Modell gemacht ist.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft reads the layers {names} of a model, and this one has {layers}; choose a draft that was made for this model.</source>
   <translation>Der Entwurf liest die Schichten {names} eines Modells, dieses hat aber {layers}: einen Entwurf wählen, der für dieses Modell gemacht ist.</translation>
  </message>
  <message>
   <location filename="engine/drafting/fallback_drafter.py" />
   <source>The draft stopped working, so the reply goes on without it ({reason}).</source>
   <translation>Der Entwurf arbeitet nicht mehr, daher geht die Antwort ohne ihn weiter ({reason}).</translation>
  </message>
  <message>
   <location filename="engine/text/pairing.py" />
   <source>The draft was made for another vocabulary: token {token_id} is missing in the model and {theirs} in the draft; choose a draft of the same family.</source>
   <translation>Der Entwurf ist für ein anderes Vokabular gemacht: Token {token_id} fehlt im Modell und ist im Entwurf {theirs}; einen Entwurf derselben Familie wählen.</translation>
  </message>
  <message>
   <location filename="engine/text/pairing.py" />
   <source>The draft was made for another vocabulary: token {token_id} is {ours} in the model and missing in the draft; choose a draft of the same family.</source>
   <translation>Der Entwurf ist für ein anderes Vokabular gemacht: Token {token_id} ist im Modell {ours} und fehlt im Entwurf; einen Entwurf derselben Familie wählen.</translation>
  </message>
  <message>
   <location filename="engine/text/pairing.py" />
   <source>The draft was made for another vocabulary: token {token_id} is {ours} in the model and {theirs} in the draft; choose a draft of the same family.</source>
   <translation>Der Entwurf ist für ein anderes Vokabular gemacht: Token {token_id} ist im Modell {ours} und im Entwurf {theirs}; einen Entwurf derselben Familie wählen.</translation>
  </message>
  <message>
   <location filename="engine/planning/model_planner.py" />
   <source>The draft {draft} is named twice: name each draft once.</source>
   <translation>Der Entwurf {draft} ist zweimal genannt: Nennen Sie jeden Entwurf einmal.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>The draft's config.json describes no transformer layer; choose another draft.</source>
   <translation>Die config.json des Entwurfsmodells beschreibt keine Transformer-Schicht; wählen Sie ein anderes Entwurfsmodell.</translation>
  </message>
  <message>
   <location filename="engine/drafting/config_keys.py" />
   <source>The draft's config.json has {keys}, which Tenon does not know and which may change what the draft computes; choose another draft, or take that out if it says nothing about the computation.</source>
   <translation>Die config.json des Entwurfsmodells enthält {keys}; Tenon kennt das nicht, und es kann ändern, was das Entwurfsmodell berechnet. Wählen Sie ein anderes, oder nehmen Sie es heraus, wenn es nichts über die Berechnung sagt.</translation>
  </message>
  <message>
   <location filename="engine/drafting/config_keys.py" />
   <source>The draft's config.json says {key} = {value}, which Tenon does not run; choose another draft.</source>
   <translation>In der config.json des Entwurfsmodells steht {key} = {value}; das führt Tenon nicht aus. Wählen Sie ein anderes Entwurfsmodell.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft's d2t and t2d disagree about which of the model's tokens it drafts; choose another draft.</source>
   <translation>d2t und t2d des Entwurfsmodells widersprechen sich darin, welche Token des Modells es entwirft; wählen Sie ein anderes Entwurfsmodell.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft's d2t names tokens that the model does not have, or one twice: it should hold what is added to the draft's own numbers; choose another draft.</source>
   <translation>d2t des Entwurfsmodells nennt Token, die das Modell nicht hat, oder eines doppelt: Es soll enthalten, was zu den eigenen Nummern des Entwurfsmodells addiert wird. Wählen Sie ein anderes Entwurfsmodell.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft's hidden size is {hidden_size} and the model's {wanted}, so it needs an embedding and a head of its own; choose another draft.</source>
   <translation>Die Hidden Size des Entwurfs ist {hidden_size} und die des Modells {wanted}, daher braucht er ein eigenes Embedding und einen eigenen Kopf: einen anderen Entwurf wählen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_layout.py" />
   <source>The draft's tensors are not those of any layout that Tenon reads, as its config.json has it: {problems}; choose another draft.</source>
   <translation>Die Tensoren des Entwurfsmodells sind nach seiner config.json die keiner Anordnung, die Tenon liest: {problems}; wählen Sie ein anderes Entwurfsmodell.</translation>
  </message>
  <message>
   <location filename="engine/drafting/fallback_drafter.py" />
   <source>The draft's weights are damaged, so the reply goes on without it: download it again, or choose another one.</source>
   <translation>Die Gewichte des Entwurfs sind beschädigt, deshalb geht die Antwort ohne ihn weiter: Laden Sie ihn noch einmal herunter, oder wählen Sie einen anderen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/assistant_network.py" />
   <source>The draft's {name} does not name each token once; choose another draft.</source>
   <translation>{name} des Entwurfs nennt nicht jedes Token genau einmal: einen anderen Entwurf wählen.</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>The engine could not be started ({reason}): close other programs.</source>
   <translation>Die Engine ließ sich nicht starten ({reason}): andere Programme schließen.</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_watch.py" />
   <source>The engine neither computed nor answered, so it was ended and started again.</source>
   <translation>Die Engine hat weder gerechnet noch geantwortet und wurde daher beendet und neu gestartet.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The engine stopped</source>
   <translation>Die Engine ist stehen geblieben</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>The engine stopped unexpectedly ({how}). Your chats are safe; it starts again with your next message.</source>
   <translation>Die Engine ist unerwartet stehen geblieben ({how}). Die Chats sind sicher; mit der nächsten Nachricht startet sie wieder.</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>The engine waits for a disk or a device that does not answer, and cannot be ended: restart the computer if this happens again.</source>
   <translation>Die Engine wartet auf eine Festplatte oder ein Gerät, das nicht antwortet, und lässt sich nicht beenden: den Computer neu starten, falls das noch einmal geschieht.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} in it is no list of objects.</source>
   <translation>Das Feld {name} darin ist keine Liste von Objekten.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} in it is no text.</source>
   <translation>Das Feld {name} darin ist kein Text.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} is missing in a message in it, or there twice.</source>
   <translation>Das Feld {name} fehlt in einer Nachricht darin oder ist doppelt.</translation>
  </message>
  <message>
   <location filename="engine/placement/from_disk.py" />
   <source>The file of the model's weights that Tenon made is damaged, so this reply ends here: ask again, and Tenon makes the file anew.</source>
   <translation>Die Datei, die Tenon aus den Gewichten des Modells erzeugt hat, ist beschädigt, daher endet diese Antwort hier: neu fragen, dann erzeugt Tenon die Datei neu.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>The file says what is in force already.</source>
   <translation>In der Datei steht, was schon gilt.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The file was not imported</source>
   <translation>Die Datei wurde nicht importiert</translation>
  </message>
  <message>
   <location filename="engine/drafting/medusa_draft.py" />
   <source>The file {file} beside the heads {name} is damaged or was made for other heads, so their tree is not used: search one with `tenon train tree`.</source>
   <translation>Die Datei {file} neben den Köpfen {name} ist beschädigt oder für andere Köpfe gemacht, daher wird ihr Baum nicht verwendet: mit `tenon train tree` einen suchen.</translation>
  </message>
  <message>
   <location filename="engine/placement/from_disk.py" />
   <source>The file {name} was changed while it was in use: ask again.</source>
   <translation>Die Datei {name} wurde geändert, während sie in Gebrauch war: erneut fragen.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The folder {folder} holds PyTorch files, and Tenon needs {single} (or shards and their index); download the model in safetensors format or as a GGUF file.</source>
   <translation>Der Ordner {folder} enthält PyTorch-Dateien, und Tenon braucht {single} (oder Shards mit ihrem Index): das Modell im Format safetensors oder als GGUF-Datei herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/planning/model_facts.py" />
   <source>The folder {folder} holds a draft head and not a whole model: choose the model that it was made for, and name this folder as its draft.</source>
   <translation>Der Ordner {folder} enthält einen Entwurfskopf und kein ganzes Modell: das Modell wählen, für das er gemacht ist, und diesen Ordner als dessen Entwurf angeben.</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_layout.py" />
   <source>The folder {folder} holds a whole model and no draft head: choose a folder with an EAGLE, Dovetail or speculators head.</source>
   <translation>Der Ordner {folder} enthält ein ganzes Modell und keinen Entwurfskopf: einen Ordner mit einem Kopf von EAGLE, Dovetail oder speculators wählen.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The folder {folder} holds no weights, and Tenon needs {single} (or shards and their index); download the model in safetensors format or as a GGUF file.</source>
   <translation>Der Ordner {folder} enthält keine Gewichte, und Tenon braucht {single} (oder Shards mit ihrem Index): das Modell im Format safetensors oder als GGUF-Datei herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The folder {folder} holds safetensors but neither {single} nor {index}, and Tenon needs {single} (or shards and their index); download the model in safetensors format or as a GGUF file.</source>
   <translation>Der Ordner {folder} enthält safetensors, aber weder {single} noch {index}, und Tenon braucht {single} (oder Shards mit ihrem Index): das Modell im Format safetensors oder als GGUF-Datei herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/parts.py" />
   <source>The folder {path} holds {found} GGUF models ({names}): give the file and not the folder.</source>
   <translation>Der Ordner {path} enthält {found} GGUF-Modelle ({names}): die Datei statt des Ordners angeben.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>The folder “{name}” is deleted, its chats are kept.</source>
   <translation>Der Ordner „{name}“ ist gelöscht, seine Chats bleiben.</translation>
  </message>
  <message>
   <location filename="engine/text/output_form.py" />
   <source>The form of the reply cannot be used ({reason}): correct it.</source>
   <translation>Die Form der Antwort ist nicht nutzbar ({reason}): sie berichtigen.</translation>
  </message>
  <message>
   <location filename="engine/text/output_form.py" />
   <source>The form of the reply has {length} characters, but it may have {most}: make it smaller.</source>
   <translation>Die Form der Antwort hat {length} Zeichen, darf aber {most} haben: Machen Sie sie kleiner.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The frequency penalty is {value}, but it must be between -2 and 2.</source>
   <translation>Die Strafe für Häufigkeit ist {value}, muss aber zwischen -2 und 2 liegen.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>The hardest questions and longer programs.</source>
   <translation>Die schwersten Fragen und längere Programme.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub answered {status} for {repo}: try again later, or check HF_ENDPOINT and the proxy.</source>
   <translation>Der Hub antwortete zu {repo} mit {status}: später neu versuchen oder HF_ENDPOINT und den Proxy prüfen.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub asks for a pause of {minutes} minutes: resume the download then.</source>
   <translation>Der Hub bittet um eine Pause von {minutes} Minuten: den Download danach fortsetzen.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub asks for a pause: try again in a few minutes.</source>
   <translation>Der Hub bittet um eine Pause: in einigen Minuten neu versuchen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub cannot be reached</source>
   <translation>Der Hub ist nicht erreichbar</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub did not answer in time: check the network, and try again.</source>
   <translation>Der Hub antwortete nicht rechtzeitig: das Netz prüfen und neu versuchen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub did not give what was asked for</source>
   <translation>Der Hub gab nicht, was verlangt war</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub does not accept the access token, or {repo} does not exist: check the name at {page}, or keep a new token with `tenon models token`.</source>
   <translation>Der Hub nimmt den Zugangstoken nicht an, oder {repo} gibt es nicht: den Namen unter {page} prüfen oder mit `tenon models token` einen neuen Token hinterlegen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub does not have it</source>
   <translation>Der Hub hat es nicht</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub gives no access</source>
   <translation>Der Hub verweigert den Zugang</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub has no {repo}, or hides it from you: check the name, or keep an access token with `tenon models token` if it is private.</source>
   <translation>Der Hub hat {repo} nicht oder verbirgt es: den Namen prüfen oder, falls es privat ist, mit `tenon models token` einen Zugangstoken hinterlegen.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub has trouble ({status}): try again in a few minutes.</source>
   <translation>Der Hub hat eine Störung ({status}): in einigen Minuten neu versuchen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub is busy</source>
   <translation>Der Hub ist überlastet</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub refuses access to {repo}: check at {page} whether your account may read it.</source>
   <translation>Der Hub verweigert den Zugang zu {repo}: unter {page} prüfen, ob das eigene Konto es lesen darf.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub sends every request on to another address without end: check HF_ENDPOINT and the proxy.</source>
   <translation>Der Hub schickt jede Anfrage endlos an eine andere Adresse weiter: HF_ENDPOINT und den Proxy prüfen.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub that models come from cannot be reached: check the network, and the proxy or mirror (HF_ENDPOINT) if you use one.</source>
   <translation>Der Hub, von dem Modelle kommen, ist nicht erreichbar: das Netz prüfen, und Proxy oder Spiegelserver (HF_ENDPOINT), falls einer benutzt wird.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub's address cannot be used ({error}): check HF_ENDPOINT.</source>
   <translation>Die Adresse des Hubs ist nicht nutzbar ({error}): HF_ENDPOINT prüfen.</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>The hub's address {endpoint} is none: HF_ENDPOINT must look like https://huggingface.co.</source>
   <translation>{endpoint} ist keine Adresse eines Hubs: HF_ENDPOINT muss aussehen wie https://huggingface.co.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub's certificate is not trusted by this system: add your company's certificate to the system's store, or name its file in SSL_CERT_FILE.</source>
   <translation>Dem Zertifikat des Hubs vertraut dieses System nicht: das Zertifikat der Firma in den Zertifikatsspeicher des Systems aufnehmen oder seine Datei in SSL_CERT_FILE nennen.</translation>
  </message>
  <message>
   <location filename="engine/remote/probe.py" />
   <source>The key and your words go to {server} unencrypted, so whoever is on the network between can read them: use an address that begins with https, or a tunnel such as ssh -L.</source>
   <translation>Der Schlüssel und Ihre Worte gehen unverschlüsselt an {server}, sodass jeder im Netz dazwischen sie lesen kann: Benutzen Sie eine Adresse, die mit https beginnt, oder einen Tunnel wie ssh -L.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The key in use opens nothing any more</source>
   <translation>Der bisherige Schlüssel öffnet dann nichts mehr</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The key is copied.</source>
   <translation>Der Schlüssel ist kopiert.</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>The key is kept in the system's keyring and sent to this address alone.</source>
   <translation>Der Schlüssel liegt im Schlüsselbund des Systems und wird nur an diese Adresse gesendet.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>The large one of the two; it needs some 64 GB, or a fast disk and patience.</source>
   <translation>Das große der beiden; es braucht etwa 64 GB, oder einen schnellen Datenträger und Geduld.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>The largest Gemma, for computers with 32 GB and patience.</source>
   <translation>Das größte Gemma, für Computer mit 32 GB und Geduld.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>The largest of its family: multilingual, good at longer tasks and tools, with a long context.</source>
   <translation>Das größte seiner Familie: mehrsprachig, gut bei längeren Aufgaben und mit Werkzeugen, mit langem Kontext.</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The last changes to the chats are missing: {now} chats are here, and {before} were when Tenon ran last.</source>
   <translation>Die letzten Änderungen an den Chats fehlen: {now} Chats sind da, und {before} waren es, als Tenon zuletzt lief.</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>The limit of tokens is {max_tokens}, but it must be at least 1.</source>
   <translation>Die Grenze für Tokens ist {max_tokens}, muss aber mindestens 1 sein.</translation>
  </message>
  <message>
   <location filename="app/bridge/models/folders.py" />
   <source>The list of folders cannot be written ({reason}).</source>
   <translation>Die Liste der Ordner lässt sich nicht schreiben ({reason}).</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>The list of servers cannot be written ({reason}).</source>
   <translation>Die Liste der Server kann nicht geschrieben werden ({reason}).</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>The machine is being looked at</source>
   <translation>Der Computer wird angesehen</translation>
  </message>
  <message>
   <location filename="engine/engine.py" />
   <source>The machine ran out of memory: close other programs, or choose a smaller model or context.</source>
   <translation>Dem Computer ging der Speicher aus: andere Programme schließen oder ein kleineres Modell oder einen kleineren Kontext wählen.</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>The memory budget is {size} GB from now on.</source>
   <translation>Das Speicherbudget beträgt ab jetzt {size} GB.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The memory budget of {budget_bytes} is too small: Tenon itself takes {own_bytes}, and the model {needs}. Set the budget to {enough} or more, or choose a smaller model.</source>
   <translation>Das Speicherbudget von {budget_bytes} ist zu klein: Tenon selbst braucht {own_bytes} und das Modell {needs}. Das Budget auf {enough} oder mehr setzen oder ein kleineres Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The message does not fit the context of the model on the server: shorten it.</source>
   <translation>Die Nachricht passt nicht in den Kontext des Modells auf dem Server: Kürzen Sie sie.</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>The message holds bytes that are not UTF-8 text: convert it to UTF-8 first.</source>
   <translation>Die Nachricht enthält Bytes, die kein UTF-8-Text sind: sie erst in UTF-8 umwandeln.</translation>
  </message>
  <message>
   <location filename="engine/remote/remote_reply.py" />
   <source>The message is about {prompt} tokens long, but the model's context on the server holds {context}: shorten it.</source>
   <translation>Die Nachricht ist etwa {prompt} Tokens lang, aber der Kontext des Modells auf dem Server fasst {context}: Kürzen Sie sie.</translation>
  </message>
  <message>
   <location filename="app/ui/turn_requests.py" />
   <source>The message is deleted.</source>
   <translation>Die Nachricht ist gelöscht.</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>The message is empty: write a question first.</source>
   <translation>Die Nachricht ist leer: erst eine Frage schreiben.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The message is longer than the context</source>
   <translation>Die Nachricht ist länger als der Kontext</translation>
  </message>
  <message>
   <location filename="engine/text/context_window.py" />
   <source>The message is more than {prompt_tokens} tokens long, but the model's context holds {context}: shorten it, or load the model with a larger context if it has one.</source>
   <translation>Die Nachricht ist mehr als {prompt_tokens} Token lang, aber der Kontext des Modells fasst {context}: Kürzen Sie sie, oder laden Sie das Modell mit einem größeren Kontext, falls es einen hat.</translation>
  </message>
  <message>
   <location filename="engine/text/context_window.py" />
   <source>The message is {prompt_tokens} tokens long, but the model's context holds {context}: shorten it, or load the model with a larger context if it has one.</source>
   <translation>Die Nachricht ist {prompt_tokens} Tokens lang, aber der Kontext des Modells fasst {context}: Kürzen Sie sie, oder laden Sie das Modell mit einem größeren Kontext, falls es einen hat.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The message is {prompt} tokens long, but the model's context on the server holds {context}: shorten it.</source>
   <translation>Die Nachricht ist {prompt} Tokens lang, aber der Kontext des Modells auf dem Server fasst {context}: Kürzen Sie sie.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The message takes too much to prepare</source>
   <translation>Die Nachricht ist zu aufwendig vorzubereiten</translation>
  </message>
  <message>
   <location filename="app/bridge/turns.py" />
   <source>The message that this reply answers was deleted: write a new one.</source>
   <translation>Die Nachricht zu dieser Antwort wurde gelöscht: eine neue schreiben.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The min-p is {value}, but it must be between 0 and 1.</source>
   <translation>Min-p ist {value}, muss aber zwischen 0 und 1 liegen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>The mode that is predicted to be fastest</source>
   <translation>Der Modus mit der besten Vorhersage</translation>
  </message>
  <message>
   <location filename="engine/planning/planner.py" />
   <source>The mode was chosen automatically, because {mode} cannot run.</source>
   <translation>Der Modus wurde automatisch gewählt, weil {mode} nicht laufen kann.</translation>
  </message>
  <message>
   <location filename="engine/planning/planner.py" />
   <source>The mode {mode} cannot run.</source>
   <translation>Der Modus {mode} kann nicht laufen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model cannot be read</source>
   <translation>Das Modell ist nicht lesbar</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model cannot be used</source>
   <translation>Das Modell ist nicht nutzbar</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The model computes numbers that are infinite or none (NaN), so its weights are damaged: download it again, or use another one.</source>
   <translation>Das Modell rechnet mit Zahlen, die unendlich oder keine sind (NaN), also sind seine Gewichte beschädigt: Laden Sie es noch einmal herunter, oder nehmen Sie ein anderes.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model could not be read from the disk</source>
   <translation>Das Modell ließ sich nicht von der Festplatte lesen</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model does not match its description</source>
   <translation>Das Modell passt nicht zu seiner Beschreibung</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer_folder.py" />
   <source>The model folder {folder} has a vocab.json, but Tenon does not know how its tokenizer splits a text: copy the model's tokenizer.json there.</source>
   <translation>Der Modellordner {folder} hat eine vocab.json, aber Tenon weiß nicht, wie sein Tokenizer einen Text zerlegt: die tokenizer.json des Modells dorthin kopieren.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer_folder.py" />
   <source>The model folder {folder} has no tokenizer: copy tokenizer.json there, or download the model again.</source>
   <translation>Der Modellordner {folder} hat keinen Tokenizer: tokenizer.json dorthin kopieren oder das Modell neu herunterladen.</translation>
  </message>
  <message>
   <location filename="app/ui/continue_line.py" />
   <source>The model goes on with your text.</source>
   <translation>Das Modell schreibt Ihren Text weiter.</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>The model in memory leaves it first and comes back afterwards.</source>
   <translation>Das geladene Modell verlässt erst den Speicher und kommt danach zurück.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>The model is being loaded.</source>
   <translation>Das Modell wird geladen.</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed.py" />
   <source>The model is larger than the memory it may take, so {layers} of its {all} layers ({size} GB) are read from the disk for each token or draft, which takes about {seconds} s.</source>
   <translation>Das Modell ist größer als der erlaubte Speicher, daher werden {layers} seiner {all} Schichten ({size} GB) für jeden Token oder Entwurf von der Festplatte gelesen, was etwa {seconds} s dauert.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>The model is loaded again, which took {seconds} s the last time.</source>
   <translation>Das Modell wird neu geladen; das dauerte letztes Mal {seconds} s.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model is not there</source>
   <translation>Das Modell ist nicht da</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The model needs {needs}, but free are {budget}: close other programs, or choose a smaller model, smaller weights or a smaller context.</source>
   <translation>Das Modell braucht {needs}, frei sind aber {budget}: andere Programme schließen oder ein kleineres Modell, kleinere Gewichte oder einen kleineren Kontext wählen.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The model runs on the CPU alone.</source>
   <translation>Das Modell läuft nur auf der CPU.</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>The model {name}, which ships with Tenon, is not in {folder}: get a model on the page Models or with `tenon models get`, or in a checkout run `make model`.</source>
   <translation>Das Modell {name}, das zu Tenon gehört, ist nicht in {folder}: auf der Seite Modelle oder mit `tenon models get` ein Modell holen oder in einem Checkout `make model` ausführen.</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>The model {reference} cannot be looked up ({reason}): check its name and the rights to its folder.</source>
   <translation>Das Modell {reference} lässt sich nicht nachschlagen ({reason}): seinen Namen und die Rechte an seinem Ordner prüfen.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template cannot be read, so the conversation is given to it as plain text.</source>
   <translation>Die Chatvorlage des Modells lässt sich nicht lesen, deshalb bekommt es das Gespräch als einfachen Text.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template cannot be read: that of {family} took its place.</source>
   <translation>Die Chatvorlage des Modells lässt sich nicht lesen: An ihrer Stelle gilt die von {family}.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template leaves out what you write, so the conversation is given to it as plain text.</source>
   <translation>Die Chatvorlage des Modells lässt weg, was Sie schreiben, deshalb bekommt es das Gespräch als einfachen Text.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template leaves out what you write: that of {family} took its place.</source>
   <translation>Die Chatvorlage des Modells lässt weg, was Sie schreiben: An ihrer Stelle gilt die von {family}.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template refuses this conversation: start a new chat, or use another model.</source>
   <translation>Das Chat-Template des Modells lehnt diesen Chat ab: einen neuen Chat beginnen oder ein anderes Modell benutzen.</translation>
  </message>
  <message>
   <location filename="engine/text/chat_template.py" />
   <source>The model's chat template takes too much time or memory, so it was ended: use another model, or another file of this one.</source>
   <translation>Das Chat-Template des Modells braucht zu viel Zeit oder Speicher und wurde daher beendet: ein anderes Modell oder eine andere Datei dieses Modells benutzen.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template turns this conversation into an empty text: use another model.</source>
   <translation>Das Chat-Template des Modells macht aus diesem Chat einen leeren Text: ein anderes Modell benutzen.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>The model's config asks for {chosen} experts per token where there are {experts}; choose another model.</source>
   <translation>Die Konfiguration des Modells verlangt {chosen} Experten je Token, vorhanden sind {experts}: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>The model's name is empty: give a folder, a GGUF file, an installed model's name, or {default}.</source>
   <translation>Der Name des Modells ist leer: einen Ordner, eine GGUF-Datei, den Namen eines installierten Modells oder {default} angeben.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model's tokenizer cannot be read</source>
   <translation>Der Tokenizer des Modells ist nicht lesbar</translation>
  </message>
  <message>
   <location filename="engine/text/sentence_piece.py" />
   <source>The model's tokenizer.model is of a kind that Tenon does not know: copy its tokenizer.json there.</source>
   <translation>Die tokenizer.model des Modells ist von einer Art, die Tenon nicht kennt: seine tokenizer.json dorthin kopieren.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model's weights are damaged</source>
   <translation>Die Gewichte des Modells sind beschädigt</translation>
  </message>
  <message>
   <location filename="engine/placement/from_disk.py" />
   <source>The model's weights could not be read from the disk any more, so this reply ends here: check that the disk is connected, then ask again.</source>
   <translation>Die Gewichte des Modells ließen sich nicht mehr von der Festplatte lesen, daher endet diese Antwort hier: prüfen, ob die Festplatte angeschlossen ist, dann neu fragen.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The models are being moved already: wait for that.</source>
   <translation>Die Modelle ziehen gerade schon um: das abwarten.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The models are in {target} already.</source>
   <translation>Die Modelle sind schon in {target}.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The models changed again and again while they were copied: move them again.</source>
   <translation>Die Modelle haben sich beim Kopieren immer wieder geändert: noch einmal verschieben.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The models were moved to {folder} meanwhile: try again.</source>
   <translation>Die Modelle wurden inzwischen nach {folder} verschoben: noch einmal versuchen.</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>The name {path} is too long for this system: choose a shorter one.</source>
   <translation>Der Name {path} ist für dieses System zu lang: einen kürzeren wählen.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The number of layers on the GPU is {wanted}, but it must be at least 0.</source>
   <translation>Die Zahl der Schichten auf der GPU ist {wanted}, muss aber mindestens 0 sein.</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The number of threads is {threads}, but it must be between 1 and 1024.</source>
   <translation>Die Zahl der Threads ist {threads}, muss aber zwischen 1 und 1024 liegen.</translation>
  </message>
  <message numerus="yes">
   <location filename="app/chat/reply.py" />
   <source>The oldest %n message(s) were left out, because the chat is longer than the model's context.</source>
   <translation>
    <numerusform>Die älteste Nachricht blieb weg, weil der Chat länger ist als der Kontext des Modells.</numerusform>
    <numerusform>Die ältesten %n Nachrichten blieben weg, weil der Chat länger ist als der Kontext des Modells.</numerusform>
   </translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index answered {status} for {repo}: check its address and the proxy.</source>
   <translation>Der Paketindex antwortete zu {repo} mit {status}: seine Adresse und den Proxy prüfen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index asks for a pause of {minutes} minutes: resume the download then.</source>
   <translation>Der Paketindex bittet um eine Pause von {minutes} Minuten: den Download danach fortsetzen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index asks for a pause: try again in a few minutes.</source>
   <translation>Der Paketindex bittet um eine Pause: in einigen Minuten neu versuchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index cannot be reached: check the network, the proxy and its address.</source>
   <translation>Der Paketindex ist nicht erreichbar: das Netz, den Proxy und seine Adresse prüfen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_choice.py" />
   <source>The package index contradicts itself about {name}: try another one, or later.</source>
   <translation>Der Paketindex widerspricht sich bei {name}: es mit einem anderen oder später versuchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index did not answer in time: check the network, and try again.</source>
   <translation>Der Paketindex antwortete nicht rechtzeitig: das Netz prüfen und neu versuchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index does not say how large {url} is: give another one.</source>
   <translation>Der Paketindex sagt nicht, wie groß {url} ist: einen anderen angeben.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index gave another part of a file than was asked for: try again.</source>
   <translation>Der Paketindex gab einen anderen Teil einer Datei als den verlangten: neu versuchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_choice.py" />
   <source>The package index gives no SHA-256 for {file_name}, so it could not be checked: give another index.</source>
   <translation>Der Paketindex nennt für {file_name} keinen SHA-256-Wert, daher ließe sich die Datei nicht prüfen: einen anderen Index angeben.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index gives no parts of files: give another one.</source>
   <translation>Der Paketindex gibt keine Teile von Dateien heraus: einen anderen angeben.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installation.py" />
   <source>The package index has no torch {version} with {names} for this system and Python ({python}): Tenon goes on without the GPU.</source>
   <translation>Der Paketindex hat kein torch {version} mit {names} für dieses System und Python ({python}): Tenon läuft ohne die GPU weiter.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index has no {repo} any more: look again.</source>
   <translation>Der Paketindex hat {repo} nicht mehr: neu suchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_choice.py" />
   <source>The package index has no {wanted} for this system and Python {python_version}: try another one, or later.</source>
   <translation>Der Paketindex hat kein {wanted} für dieses System und Python {python_version}: es mit einem anderen oder später versuchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index has trouble ({status}): try again in a few minutes.</source>
   <translation>Der Paketindex hat eine Störung ({status}): in einigen Minuten neu versuchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index sends every request on to another address without end: check its address and the proxy.</source>
   <translation>Der Paketindex schickt jede Anfrage endlos an eine andere Adresse weiter: seine Adresse und den Proxy prüfen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index's address cannot be used ({error}): check its address.</source>
   <translation>Die Adresse des Paketindex ist nicht nutzbar ({error}): sie prüfen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index's certificate is not trusted by this system: add your company's certificate to the system's store, or name its file in SSL_CERT_FILE.</source>
   <translation>Dem Zertifikat des Paketindex vertraut dieses System nicht: das Zertifikat der Firma in den Zertifikatsspeicher des Systems aufnehmen oder seine Datei in SSL_CERT_FILE nennen.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The part that does not fit on the GPU must be in memory, and {free_bytes} are free there.</source>
   <translation>Der Teil, der nicht auf die GPU passt, muss in den Arbeitsspeicher, und dort sind {free_bytes} frei.</translation>
  </message>
  <message>
   <location filename="engine/gguf/model.py" />
   <source>The parts of {path} hold the same tensor twice, so they are not of one model; put the right ones together.</source>
   <translation>Die Teile von {path} enthalten denselben Tensor doppelt, gehören also nicht zu einem Modell: die richtigen zusammenlegen.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>The plan is being made. While a reply runs it waits for its end.</source>
   <translation>Der Plan wird gemacht. Während einer Antwort wartet er auf deren Ende.</translation>
  </message>
  <message>
   <location filename="engine/server/serving.py" />
   <source>The port is {port}, but it must be between 0 (any) and 65535.</source>
   <translation>Der Port ist {port}, muss aber zwischen 0 (beliebig) und 65535 liegen.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The presence penalty is {value}, but it must be between -2 and 2.</source>
   <translation>Die Strafe für Vorkommen ist {value}, muss aber zwischen -2 und 2 liegen.</translation>
  </message>
  <message>
   <location filename="engine/preparer.py" />
   <source>The process that prepares requests cannot be started ({reason}): close other programs.</source>
   <translation>Der Prozess, der Anfragen vorbereitet, kann nicht gestartet werden ({reason}): Schließen Sie andere Programme.</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>The prompt tokens are for a model of {wanted_layers} layers and {wanted_heads} attention heads, and this one has {layers} and {heads}; choose a set that was trained for this model.</source>
   <translation>Die Prompt-Tokens sind für ein Modell mit {wanted_layers} Schichten und {wanted_heads} Aufmerksamkeitsköpfen, dieses hat {layers} und {heads}: einen Satz wählen, der für dieses Modell trainiert wurde.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The proxy cannot be used: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, which must look like http://host:port.</source>
   <translation>Der Proxy ist nicht nutzbar: HTTPS_PROXY, HTTP_PROXY und ALL_PROXY prüfen, sie müssen aussehen wie http://host:port.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The proxy refuses the way to the hub: check HTTPS_PROXY.</source>
   <translation>Der Proxy verweigert den Weg zum Hub: HTTPS_PROXY prüfen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The proxy refuses the way to the package index: check HTTPS_PROXY.</source>
   <translation>Der Proxy verweigert den Weg zum Paketindex: HTTPS_PROXY prüfen.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The proxy refuses the way to {server}: check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.</source>
   <translation>Der Proxy verweigert den Weg zu {server}: Prüfen Sie HTTPS_PROXY, HTTP_PROXY und NO_PROXY.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The repetition penalty is {value}, but it must be between 0.01 and 100.</source>
   <translation>Die Wiederholungsstrafe ist {value}, muss aber zwischen 0,01 und 100 liegen.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The repetition penalty looks at the last {value} tokens, but it must be 1 at least.</source>
   <translation>Die Wiederholungsstrafe betrachtet die letzten {value} Tokens, muss aber mindestens 1 betrachten.</translation>
  </message>
  <message>
   <location filename="app/chat/reply.py" />
   <source>The reply failed.</source>
   <translation>Die Antwort ist gescheitert.</translation>
  </message>
  <message>
   <location filename="app/ui/announcements.py" />
   <source>The reply is finished.</source>
   <translation>Die Antwort ist fertig.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The reply was cut off</source>
   <translation>Die Antwort wurde abgeschnitten</translation>
  </message>
  <message>
   <location filename="app/ui/announcements.py" />
   <source>The reply was cut off.</source>
   <translation>Die Antwort wurde abgeschnitten.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The reply was stopped</source>
   <translation>Die Antwort wurde angehalten</translation>
  </message>
  <message>
   <location filename="app/chat/reply.py" />
   <source>The reply was stopped, because it began to repeat itself.</source>
   <translation>Die Antwort wurde angehalten, weil sie sich zu wiederholen begann.</translation>
  </message>
  <message>
   <location filename="app/ui/announcements.py" />
   <source>The reply was stopped.</source>
   <translation>Die Antwort wurde angehalten.</translation>
  </message>
  <message>
   <location filename="engine/engine.py" />
   <source>The request was stopped.</source>
   <translation>Die Anfrage wurde angehalten.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>The same seed gives the same reply to the same chat.</source>
   <translation>Derselbe Seed gibt im selben Chat dieselbe Antwort.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The seed is {value}, but it must be a whole number between 0 and 2**64 - 1.</source>
   <translation>Der Seed ist {value}, muss aber eine ganze Zahl zwischen 0 und 2**64 - 1 sein.</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>The server at {endpoint} is no hub: check HF_ENDPOINT, the proxy, or a sign-in page of the network.</source>
   <translation>Der Server unter {endpoint} ist kein Hub: HF_ENDPOINT, den Proxy oder eine Anmeldeseite des Netzes prüfen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server cannot be reached</source>
   <translation>Der Server ist nicht zu erreichen</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server did not give what was asked for</source>
   <translation>Der Server gab nicht, was verlangt war</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server gives no access</source>
   <translation>Der Server gewährt keinen Zugang</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server is busy</source>
   <translation>Der Server ist beschäftigt</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The server is off.</source>
   <translation>Der Server ist aus.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server's key cannot be kept</source>
   <translation>Der Schlüssel des Servers kann nicht aufbewahrt werden</translation>
  </message>
  <message>
   <location filename="engine/server/key.py" />
   <source>The server's key must be {least} or more letters, digits or signs without spaces: choose another, or leave it to Tenon to make one.</source>
   <translation>Der Schlüssel des Servers muss aus {least} oder mehr Buchstaben, Ziffern oder Zeichen ohne Leerzeichen bestehen: einen anderen wählen oder Tenon einen erzeugen lassen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server's reply broke off</source>
   <translation>Die Antwort des Servers brach ab</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The settings for {program} are copied, with the key.</source>
   <translation>Die Einstellungen für {program} sind kopiert, samt Schlüssel.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>The settings in force are saved as {file}.</source>
   <translation>Die geltenden Einstellungen sind als {file} gespeichert.</translation>
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>The settings in {path} cannot be read ({reason}).</source>
   <translation>Die Einstellungen in {path} sind nicht lesbar ({reason}).</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>The speeds of the machine are measured first, in some seconds.</source>
   <translation>Zuerst werden die Geschwindigkeiten des Computers gemessen, in einigen Sekunden.</translation>
  </message>
  <message>
   <location filename="app/ui/shown_folder.py" />
   <source>The system could not open it. The folder is {folder}</source>
   <translation>Das System konnte ihn nicht öffnen. Der Ordner ist {folder}</translation>
  </message>
  <message>
   <location filename="engine/placement/copies.py" />
   <source>The system does not let Tenon pin {size_bytes} MB more of the host's memory for copies to the GPU: raise the limit (ulimit -l), or choose the mode offload.</source>
   <translation>Das System lässt Tenon nicht weitere {size_bytes} MB Arbeitsspeicher für Kopien zur GPU fest belegen: die Grenze erhöhen (ulimit -l) oder den Modus offload wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The temperature is {value}, but it must be between 0 and 100.</source>
   <translation>Die Temperatur ist {value}, muss aber zwischen 0 und 100 liegen.</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>The tensor {name} is stored as {dtype}, and Tenon reads {names}; choose an unquantized version of this model.</source>
   <translation>Der Tensor {name} ist als {dtype} gespeichert, Tenon liest aber {names}: eine unquantisierte Version dieses Modells wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/model.py" />
   <source>The tensor {name} is stored as {kind}, which Tenon cannot read; choose another quantization of this model, such as Q4_K_M or Q8_0.</source>
   <translation>Der Tensor {name} ist als {kind} gespeichert, was Tenon nicht lesen kann: eine andere Quantisierung dieses Modells wählen, etwa Q4_K_M oder Q8_0.</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>The tensor {name} of {file} is of the GGUF type {kind}, which Tenon does not know; choose another quantization of this model.</source>
   <translation>Der Tensor {name} in {file} ist vom GGUF-Typ {kind}, den Tenon nicht kennt: eine andere Quantisierung dieses Modells wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>The tensors do not match config.json: {problems}; put the files of one model together, or choose another model.</source>
   <translation>Die Tensoren passen nicht zur config.json: {problems}; die Dateien eines Modells zusammenlegen oder ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>The tensors do not match the GGUF file's metadata: {problems}; choose another file of this model.</source>
   <translation>Die Tensoren passen nicht zu den Metadaten der GGUF-Datei: {problems}; eine andere Datei dieses Modells wählen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>The tensors of the prompt tokens do not match their adapter_config.json: {problems}; choose another set.</source>
   <translation>Die Tensoren der Prompt-Tokens passen nicht zu ihrer adapter_config.json: {problems}; einen anderen Satz wählen.</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>The text is taken out of Tenon's database and its log at once, and nothing brings it back.</source>
   <translation>Der Text wird sofort aus Tenons Datenbank und ihrem Protokoll entfernt, und nichts bringt ihn zurück.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>The text so far is kept.</source>
   <translation>Der bisherige Text bleibt erhalten.</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>The tokenizer in the GGUF file is damaged: download the file again.</source>
   <translation>Der Tokenizer in der GGUF-Datei ist beschädigt: die Datei neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer_folder.py" />
   <source>The tokenizer in {folder} cannot be read: download the model's tokenizer files again.</source>
   <translation>Der Tokenizer in {folder} ist nicht lesbar: die Tokenizer-Dateien des Modells neu herunterladen.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>The tokens of a reply appear here as they are written.</source>
   <translation>Hier erscheinen die Tokens einer Antwort, während sie entsteht.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The top-k is {value}, but it must be a whole number from 0 (all tokens) on.</source>
   <translation>Top-k ist {value}, muss aber eine ganze Zahl ab 0 (alle Tokens) sein.</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The top-p is {value}, but it must be above 0 and at most 1.</source>
   <translation>Top-p ist {value}, muss aber über 0 liegen und höchstens 1 sein.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>The torch that Tenon runs on was built for {gpu}: there is nothing to fetch.</source>
   <translation>Das torch, auf dem Tenon läuft, ist für {gpu} gebaut: es gibt nichts zu holen.</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>The trash is empty.</source>
   <translation>Der Papierkorb ist leer.</translation>
  </message>
  <message>
   <location filename="engine/drafting/level_drafter.py" />
   <source>The tree is {depth} tokens deep and the draft has {heads} heads; choose a tree that was made for these heads.</source>
   <translation>Der Baum ist {depth} Tokens tief und der Entwurf hat {heads} Köpfe: einen Baum wählen, der für diese Köpfe gemacht ist.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The weights in {file} are damaged: {tensor} holds numbers that are infinite or none (NaN). Download the file again, or use another one.</source>
   <translation>Die Gewichte in {file} sind beschädigt: {tensor} enthält Zahlen, die unendlich oder keine sind (NaN). Laden Sie die Datei noch einmal herunter, oder nehmen Sie eine andere.</translation>
  </message>
  <message>
   <location filename="engine/model/converted.py" />
   <source>The {name} weights could not be written next to the model nor to {cache_folder}: make {needed} GB free on one of these disks.</source>
   <translation>Die Gewichte in {name} ließen sich weder neben dem Modell noch in {cache_folder} speichern: auf einer dieser Festplatten {needed} GB frei machen.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Theme</source>
   <translation>Farbschema</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Theme as the system</source>
   <translation>Farbschema wie das System</translation>
  </message>
  <message>
   <location filename="engine/drafting/model_draft.py" />
   <source>There are no prompt tokens in {folder}, where those of the draft are looked for: train them with `tenon train draft --kind prompt-tokens`, or draft without them.</source>
   <translation>In {folder}, wo die Prompt-Tokens des Entwurfs gesucht werden, sind keine: mit `tenon train draft --kind prompt-tokens` welche trainieren oder ohne sie entwerfen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_token_draft.py" />
   <source>There are {count} prompt tokens, and the context has room for {context} tokens; choose a longer context or a smaller set.</source>
   <translation>Es sind {count} Prompt-Tokens, und der Kontext hat Platz für {context} Tokens: einen längeren Kontext oder einen kleineren Satz wählen.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>There is a token.</source>
   <translation>Ein Token ist da.</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>There is an installed model {name} already: remove it first, or give --name.</source>
   <translation>Ein installiertes Modell {name} gibt es schon: es erst entfernen oder --name angeben.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>There is no GPU support for {name} on this system.</source>
   <translation>Für {name} gibt es auf diesem System keine GPU-Unterstützung.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>There is no GPU that Tenon can use here, so the draft runs on the CPU beside the model.</source>
   <translation>Hier gibt es keine GPU, die Tenon nutzen kann, daher läuft der Entwurf neben dem Modell auf der CPU.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>There is no GPU that Tenon can use here, so the drafts run on the CPU beside the model.</source>
   <translation>Hier gibt es keine GPU, die Tenon nutzen kann, daher laufen die Entwürfe neben dem Modell auf der CPU.</translation>
  </message>
  <message>
   <location filename="app/bridge/settings_desk.py" />
   <source>There is no GPU that Tenon can use here.</source>
   <translation>Hier gibt es keine GPU, die Tenon nutzen kann.</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>There is no backup of them.</source>
   <translation>Es gibt davon keine Sicherung.</translation>
  </message>
  <message>
   <location filename="engine/planning/format_choice.py" />
   <source>There is no cache format {wanted}: choose {names}.</source>
   <translation>Ein Cache-Format {wanted} gibt es nicht: {names} wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>There is no config.json beside the weights in {location}: add it.</source>
   <translation>Neben den Gewichten in {location} liegt keine config.json: sie hinzufügen.</translation>
  </message>
  <message>
   <location filename="engine/hub/download/download_queue.py" />
   <source>There is no download of {name}.</source>
   <translation>Es gibt keinen Download von {name}.</translation>
  </message>
  <message>
   <location filename="engine/weights/head_checkpoint.py" />
   <source>There is no draft folder at {folder}; check the path.</source>
   <translation>Unter {folder} ist kein Ordner eines Entwurfs: den Pfad prüfen.</translation>
  </message>
  <message>
   <location filename="engine/cli/models/shelf.py" />
   <source>There is no folder {path}: check the path.</source>
   <translation>Es gibt keinen Ordner {path}: Prüfen Sie den Pfad.</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>There is no installed model {name}: `tenon models list` names them.</source>
   <translation>Es gibt kein installiertes Modell {name}: `tenon models list` nennt alle.</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/reading.py" />
   <source>There is no message in it.</source>
   <translation>Darin ist keine Nachricht.</translation>
  </message>
  <message>
   <location filename="engine/planning/planner.py" />
   <source>There is no mode {mode}: choose {auto}, {names}.</source>
   <translation>Den Modus {mode} gibt es nicht: {auto}, {names} wählen.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>There is no model at {path}; check the path or install the model.</source>
   <translation>Unter {path} ist kein Modell: den Pfad prüfen oder das Modell installieren.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint_outline.py" />
   <source>There is no model folder at {folder}; check the path or install the model.</source>
   <translation>Unter {folder} ist kein Modellordner: den Pfad prüfen oder das Modell installieren.</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>There is no model on this computer yet.</source>
   <translation>Auf diesem Computer ist noch kein Modell.</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>There is no model {reference}: give the folder of a checkpoint, a GGUF file, an installed model's name, or {default}.</source>
   <translation>Es gibt kein Modell {reference}: den Ordner eines Checkpoints, eine GGUF-Datei, den Namen eines installierten Modells oder {default} angeben.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is no reply</source>
   <translation>Es gibt keine Antwort</translation>
  </message>
  <message>
   <location filename="app/storage/backup.py" />
   <source>There is no room for today's backup of the chats ({size} MiB must be free, {free} MiB are): free some space on the disk that holds {folder}.</source>
   <translation>Für die heutige Sicherung der Chats ist kein Platz ({size} MiB müssen frei sein, {free} MiB sind es): auf der Festplatte mit {folder} Platz schaffen.</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>There is no rule of verification {verify}: choose {names}.</source>
   <translation>Die Prüfregel {verify} gibt es nicht: {names} wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>There is no server {name}: `tenon models servers` names them.</source>
   <translation>Es gibt keinen Server {name}: `tenon models servers` nennt sie.</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>There is no server {name}: choose another model, or add the server on the page Models or with `tenon models servers --add ADDRESS`.</source>
   <translation>Es gibt keinen Server {name}: Wählen Sie ein anderes Modell, oder fügen Sie den Server auf der Seite Modelle oder mit `tenon models servers --add ADDRESS` hinzu.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>There is no telemetry. Your chats, settings and models stay on this computer, and nothing about you or it is sent to anybody, unless you choose a model on a server that you have added: it gets the chats that it answers. The network is used when you search the hub or download a model too, and to check for updates if you turn that on.</source>
   <translation>Es gibt keine Telemetrie. Chats, Einstellungen und Modelle bleiben auf diesem Computer, und nichts darüber wird an irgendwen gesendet, außer wenn ein Modell auf einem hinzugefügten Server gewählt ist: es bekommt die Chats, die es beantwortet. Das Netz wird auch benutzt, um den Hub zu durchsuchen und Modelle herunterzuladen, und für die Suche nach Updates, wenn sie eingeschaltet ist.</translation>
  </message>
  <message>
   <location filename="engine/reply.py" />
   <source>There is no token {token} in this model: its tokens have the numbers from 0 to {last}.</source>
   <translation>Dieses Modell hat kein Token {token}: Seine Tokens haben die Nummern 0 bis {last}.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>There is no token.</source>
   <translation>Es ist kein Token da.</translation>
  </message>
  <message>
   <location filename="engine/planning/format_choice.py" />
   <source>There is no weight format {wanted}: choose auto, {names}.</source>
   <translation>Ein Gewichtsformat {wanted} gibt es nicht: auto, {names} wählen.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>There is no {name} in {folder}; choose the folder that holds the model's files.</source>
   <translation>In {folder} gibt es keine {name}: den Ordner mit den Dateien des Modells wählen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is not enough memory</source>
   <translation>Der Speicher reicht nicht</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is not enough room on the disk</source>
   <translation>Der Platz auf der Festplatte reicht nicht</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>There is nothing at {path}: check the path.</source>
   <translation>Unter {path} ist nichts: den Pfad prüfen.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is nothing to answer</source>
   <translation>Es gibt nichts zu beantworten</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>These prompt tokens were trained with an attention mask named {mask}, and Tenon knows {masks}: choose another set.</source>
   <translation>Diese Prompt-Tokens wurden mit einer Aufmerksamkeitsmaske namens {mask} trainiert, Tenon kennt {masks}: einen anderen Satz wählen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>These prompt tokens were trained with {name} = {value}, which Tenon does not run: choose a set that was trained without it.</source>
   <translation>Diese Prompt-Tokens wurden mit {name} = {value} trainiert, was Tenon nicht ausführt: einen Satz wählen, der ohne das trainiert wurde.</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>They appear once Tenon knows which models run here.</source>
   <translation>Sie erscheinen, sobald Tenon weiß, welche Modelle hier laufen.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Thinking</source>
   <translation>Denkt nach</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds a LoRA adapter: a change to a model, and not a model. Choose the model with the adapter merged into it.</source>
   <translation>Diese GGUF-Datei enthält einen LoRA-Adapter: eine Änderung an einem Modell und kein Modell. Wählen Sie das Modell, in das der Adapter eingerechnet ist.</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds a control vector for steering a model, and not a model. Choose the model's own file.</source>
   <translation>Diese GGUF-Datei enthält einen Steuervektor für ein Modell und kein Modell. Wählen Sie die Datei des Modells selbst.</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds a vocabulary and no weights, so it is no model; choose the model's own file.</source>
   <translation>Diese GGUF-Datei enthält ein Vokabular und keine Gewichte, ist also kein Modell. Wählen Sie die Datei des Modells selbst.</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds an importance matrix for quantizing a model, and not a model. Choose the model's own file.</source>
   <translation>Diese GGUF-Datei enthält eine Wichtigkeitsmatrix zum Quantisieren eines Modells und kein Modell. Wählen Sie die Datei des Modells selbst.</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds the part of a model that reads images or sound, and no text model; choose the model's own file.</source>
   <translation>Diese GGUF-Datei enthält den Teil eines Modells, der Bilder oder Ton liest, und kein Textmodell. Wählen Sie die Datei des Modells selbst.</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>This GGUF file is of an older kind, which has each head's keys and values in one tensor (attn_kv_b); choose a newer conversion of this model.</source>
   <translation>Diese GGUF-Datei ist von einer älteren Art, die Schlüssel und Werte aller Köpfe in einem Tensor hat (attn_kv_b); wählen Sie eine neuere Umwandlung dieses Modells.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/bundled_torch.py" />
   <source>This Tenon does not say which torch it runs on, so no GPU support can be chosen: install Tenon again.</source>
   <translation>Dieses Tenon sagt nicht, auf welchem torch es läuft, daher lässt sich keine GPU-Unterstützung wählen: Tenon neu installieren.</translation>
  </message>
  <message>
   <location filename="app/bridge/replies.py" />
   <source>This answer has a new seed: with the fixed one, {seed}, it would be the first answer again.</source>
   <translation>Diese Antwort hat einen neuen Seed: mit dem festen, {seed}, käme wieder die erste Antwort.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>This cannot be done</source>
   <translation>Das geht nicht</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>This chat</source>
   <translation>Dieser Chat</translation>
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>This chat has settings of its own</source>
   <translation>Dieser Chat hat eigene Einstellungen</translation>
  </message>
  <message>
   <location filename="app/storage/conversation_store.py" />
   <source>This computer's SQLite has no full-text index (FTS5), so letters are compared, and it takes longer.</source>
   <translation>Das SQLite dieses Computers hat keinen Volltextindex (FTS5), daher werden Buchstaben verglichen, und es dauert länger.</translation>
  </message>
  <message>
   <location filename="engine/text/chat_template.py" />
   <source>This conversation takes the model's chat template more than {seconds} s or {size} MiB, so it is not answered: shorten it, or send fewer and smaller tools.</source>
   <translation>Für diese Unterhaltung braucht die Chatvorlage des Modells mehr als {seconds} s oder {size} MiB, deshalb wird sie nicht beantwortet: Kürzen Sie sie, oder senden Sie weniger und kleinere Werkzeuge.</translation>
  </message>
  <message>
   <location filename="app/settings/exchange.py" />
   <source>This file holds no settings of Tenon: choose one that was made by Export settings.</source>
   <translation>Diese Datei enthält keine Einstellungen von Tenon: eine wählen, die mit „Einstellungen exportieren“ gemacht ist.</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>This installation</source>
   <translation>Diese Installation</translation>
  </message>
  <message>
   <location filename="engine/hub/access_token.py" />
   <source>This is no access token: copy it whole from the hub's settings; it starts with hf_.</source>
   <translation>Das ist kein Zugangstoken: ihn vollständig aus den Einstellungen des Hubs kopieren; er beginnt mit hf_.</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>This is no key: copy it whole from the server that gave it.</source>
   <translation>Das ist kein Schlüssel: Kopieren Sie ihn ganz von dem Server, der ihn gab.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>This machine</source>
   <translation>Dieser Computer</translation>
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>This machine is being measured: compare the modes when that is done, or stop it first.</source>
   <translation>Dieser Computer wird gemessen: danach vergleichen oder es vorher anhalten.</translation>
  </message>
  <message>
   <location filename="app/bridge/machine.py" />
   <source>This machine is being measured: the reply begins when that is done, or when you stop it.</source>
   <translation>Dieser Computer wird gemessen: die Antwort beginnt, wenn das fertig oder angehalten ist.</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>This message was damaged on the disk, and no backup has it.</source>
   <translation>Diese Nachricht wurde auf der Festplatte beschädigt, und keine Sicherung enthält sie.</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>This message was damaged on the disk: restart Tenon, which looks for it in the backups.</source>
   <translation>Diese Nachricht wurde auf der Festplatte beschädigt: Tenon neu starten, das sie dann in den Sicherungen sucht.</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>This model brings no chat template, so the conversation is given to it as plain text: it only continues texts.</source>
   <translation>Dieses Modell bringt keine Chatvorlage mit, deshalb bekommt es das Gespräch als einfachen Text: Es setzt Texte nur fort.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>This model is quantized (quantization_config, {method}), which Tenon cannot read; choose the unquantized version.</source>
   <translation>Dieses Modell ist quantisiert (quantization_config, {method}), was Tenon nicht lesen kann: die unquantisierte Version wählen.</translation>
  </message>
  <message>
   <location filename="app/ui/continue_line.py" />
   <source>This model only continues texts.</source>
   <translation>Dieses Modell setzt Texte nur fort.</translation>
  </message>
  <message>
   <location filename="app/bridge/plans.py" />
   <source>This model runs on a server, so nothing is planned here.</source>
   <translation>Dieses Modell läuft auf einem Server, hier wird also nichts geplant.</translation>
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>This model runs on a server, which has modes of its own: choose a model of this computer.</source>
   <translation>Dieses Modell läuft auf einem Server, der eigene Modi hat: Wählen Sie ein Modell dieses Computers.</translation>
  </message>
  <message>
   <location filename="engine/drafting/block_network.py" />
   <source>This model scales its embedding, and the draft has none of its own; choose a draft that has one, or an EAGLE-3 draft.</source>
   <translation>Dieses Modell skaliert seine Einbettung, und der Entwurf hat keine eigene; wählen Sie einen Entwurf mit eigener Einbettung oder einen EAGLE-3-Entwurf.</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>This model's context has {tokens} tokens from now on.</source>
   <translation>Der Kontext dieses Modells hat von jetzt an {tokens} Tokens.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>This page is copied as text.</source>
   <translation>Diese Seite wird als Text kopiert.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>This reply</source>
   <translation>Diese Antwort</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>This reply: {facts}</source>
   <translation>Diese Antwort: {facts}</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>This system has no keyring that Tenon can keep the key in: put it into the environment variable {variable} before Tenon starts, and add the server without it.</source>
   <translation>Dieses System hat keinen Schlüsselbund, in dem Tenon den Schlüssel aufbewahren kann: Legen Sie ihn in die Umgebungsvariable {variable}, bevor Tenon startet, und fügen Sie den Server ohne ihn hinzu.</translation>
  </message>
  <message>
   <location filename="engine/hub/access_token.py" />
   <source>This system has no keyring that Tenon can keep the token in: put it into the environment variable HF_TOKEN instead.</source>
   <translation>Dieses System hat keinen Schlüsselbund, in dem Tenon den Token aufbewahren kann: ihn stattdessen in die Umgebungsvariable HF_TOKEN schreiben.</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>This system has no keyring: the next start has another key.</source>
   <translation>Dieses System hat keinen Schlüsselbund: Der nächste Start hat einen anderen Schlüssel.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>This takes effect when Tenon is opened again.</source>
   <translation>Das gilt, wenn Tenon das nächste Mal geöffnet wird.</translation>
  </message>
  <message>
   <location filename="app/ui/turn_requests.py" />
   <source>This version and what follows it are deleted.</source>
   <translation>Diese Version und was auf sie folgt sind gelöscht.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Thought</source>
   <translation>Gedanken</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Thoughts are folded above the answer and never sent back to the model.</source>
   <translation>Gedanken stehen zugeklappt über der Antwort und gehen nie an das Modell zurück.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Thoughts of the model</source>
   <translation>Gedanken des Modells</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>Times plain</source>
   <translation>Mal normal</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_delegate.py" />
   <source>Title</source>
   <translation>Titel</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Titles by the model</source>
   <translation>Titel vom Modell</translation>
  </message>
  <message>
   <location filename="engine/text/output_form.py" />
   <source>To compile the form of the reply takes more than {seconds} s or {size} MiB, so it is not used: make it smaller.</source>
   <translation>Die Form der Antwort zu übersetzen braucht mehr als {seconds} s oder {size} MiB, deshalb wird sie nicht verwendet: Machen Sie sie kleiner.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/width_panel.py" />
   <source>To measure them run {command} in a terminal.</source>
   <translation>Um sie zu messen, {command} in einem Terminal ausführen.</translation>
  </message>
  <message>
   <location filename="engine/text/preparation.py" />
   <source>To prepare this request takes more than {seconds} s or {size} MiB, so it is not answered: make it smaller.</source>
   <translation>Diese Anfrage vorzubereiten braucht mehr als {seconds} s oder {size} MiB, deshalb wird sie nicht beantwortet: Machen Sie sie kleiner.</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Today</source>
   <translation>Heute</translation>
  </message>
  <message>
   <location filename="app/storage/backup.py" />
   <source>Today's backup of the chats is not sound: restart Tenon, which checks them.</source>
   <translation>Die heutige Sicherung der Chats ist nicht in Ordnung: Tenon neu starten, dann werden sie geprüft.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Tokens</source>
   <translation>Tokens</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Tokens checked at once</source>
   <translation>Zugleich geprüfte Tokens</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Tokens of the reply</source>
   <translation>Tokens der Antwort</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Tokens per step</source>
   <translation>Tokens je Schritt</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Tokens per step, of all users</source>
   <translation>Tokens je Schritt, aller Benutzer</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>Tokens: {words}</source>
   <translation>Tokens: {words}</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Too short to tell which wrote faster</source>
   <translation>Zu kurz, um zu sagen, wer schneller schrieb</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Top k</source>
   <translation>Top k</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Top p</source>
   <translation>Top p</translation>
  </message>
  <message>
   <location filename="engine/modes/ppd.py" />
   <source>Trained prompt tokens let the model guess several tokens and check earlier guesses in one pass.</source>
   <translation>Mit trainierten Prompt-Tokens rät das Modell mehrere Tokens und prüft frühere Vermutungen in einem Durchlauf.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/transcript.py" />
   <source>Transcript</source>
   <translation>Verlauf</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Trash</source>
   <translation>Papierkorb</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Trash...</source>
   <translation>Papierkorb...</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Try again</source>
   <translation>Neu versuchen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Try again as it was</source>
   <translation>Unverändert neu versuchen</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Try {name} again</source>
   <translation>{name} neu versuchen</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Two of the files have the same name: leave one of them out.</source>
   <translation>Zwei der Dateien haben denselben Namen: eine davon weglassen.</translation>
  </message>
  <message>
   <location filename="app/ui/composer/composer.py" />
   <source>Type a message first</source>
   <translation>Erst eine Nachricht schreiben</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>Type “{word}” to go on:</source>
   <translation>Zum Fortfahren „{word}“ eingeben:</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Typical acceptance (lossy)</source>
   <translation>Typische Annahme (verlustbehaftet)</translation>
  </message>
  <message>
   <location filename="engine/reply.py" />
   <source>Typical acceptance is lossy: the reply may differ from what the model alone would say.</source>
   <translation>Die typische Annahme ist verlustbehaftet: die Antwort kann von dem abweichen, was das Modell allein sagen würde.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Undo</source>
   <translation>Rückgängig</translation>
  </message>
  <message>
   <location filename="app/ui/settings/foot.py" />
   <source>Undo changes</source>
   <translation>Zurücknehmen</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Unfold</source>
   <translation>Aufklappen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Unknown</source>
   <translation>Unbekannt</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Unpacking, {done} of {total}</source>
   <translation>Wird entpackt, {done} von {total}</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Unpin</source>
   <translation>Lösen</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Use the files where they are</source>
   <translation>Die Dateien dort benutzen, wo sie sind</translation>
  </message>
  <message>
   <location filename="app/settings/mode_options.py" />
   <source>Usual</source>
   <translation>Üblich</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Usual context</source>
   <translation>Üblicher Kontext</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Usual size of text</source>
   <translation>Übliche Schriftgröße</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Usual, {tokens} tokens</source>
   <translation>Üblich, {tokens} Tokens</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>VRAM, GB</source>
   <translation>VRAM, GB</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Verification</source>
   <translation>Prüfung</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Version {number} of {all}</source>
   <translation>Version {number} von {all}</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Versions, system and hardware, for a report</source>
   <translation>Versionen, System und Hardware, für eine Meldung</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Very short English answers; often wrong.</source>
   <translation>Sehr kurze Antworten auf Englisch; oft falsch.</translation>
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>View</source>
   <translation>Ansicht</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting for the engine to start again</source>
   <translation>Wartet, bis die Engine wieder läuft</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting for the other reply</source>
   <translation>Wartet auf die andere Antwort</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Waiting to go on, {done} of {total}</source>
   <translation>Wartet aufs Weitermachen, {done} von {total}</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting until this machine is measured</source>
   <translation>Wartet, bis dieser Computer gemessen ist</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Waits for the other mode</source>
   <translation>Wartet auf den anderen Modus</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Warming up</source>
   <translation>Wird warm</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Ways to run the model by predicted speed, fastest first</source>
   <translation>Nach vorhergesagter Geschwindigkeit, schnellste Art zuerst</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Weights in {format}.</source>
   <translation>Gewichte in {format}.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Weights that are not in memory are read from the disk for every pass; the speed is the disk's.</source>
   <translation>Gewichte, die nicht im Speicher sind, werden in jedem Durchgang von der Festplatte gelesen; das Tempo ist das der Festplatte.</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/first_run.py" />
   <source>Welcome</source>
   <translation>Willkommen</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Welcome to Tenon</source>
   <translation>Willkommen bei Tenon</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>What can you do?</source>
   <translation>Was kannst du?</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>What do you want to do?</source>
   <translation>Was ist zu tun?</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>What happened</source>
   <translation>Was geschah</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>What is free</source>
   <translation>Was frei ist</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>What is new</source>
   <translation>Neuerungen</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>What leaves this computer</source>
   <translation>Was diesen Computer verlässt</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>What would you like to know?</source>
   <translation>Was darf es sein?</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>What you write goes to {server}, a program of this computer, {address}. Replies can be wrong, so check what matters.</source>
   <translation>Was Sie schreiben, geht an {server}, ein Programm dieses Computers, {address}. Antworten können falsch sein, prüfen Sie also, worauf es ankommt.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>What you write goes to {server}, {address}, unencrypted: others on the network can read it. Replies can be wrong, so check what matters.</source>
   <translation>Was Sie schreiben, geht unverschlüsselt an {server}, {address}: Andere im Netz können es lesen. Antworten können falsch sein, prüfen Sie also, worauf es ankommt.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>What you write goes to {server}, {address}. Replies can be wrong, so check what matters.</source>
   <translation>Was Sie schreiben, geht an {server}, {address}. Antworten können falsch sein, prüfen Sie also, worauf es ankommt.</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>What you write stays here.</source>
   <translation>Was hier geschrieben wird, bleibt hier.</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>When a long reply is complete while the window is in the background.</source>
   <translation>Wenn eine lange Antwort fertig ist, während das Fenster im Hintergrund liegt.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Where downloaded models lie.</source>
   <translation>Wo heruntergeladene Modelle liegen.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Where it lives</source>
   <translation>Wo es liegt</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>Where it lives: {places}</source>
   <translation>Wo es liegt: {places}</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Where they lie on this computer.</source>
   <translation>Wo sie auf diesem Computer liegen.</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Where you search for words in a chat</source>
   <translation>Bei der Suche nach Wörtern in einem Chat</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Where you type a message</source>
   <translation>Beim Schreiben einer Nachricht</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Which guesses of a draft the model accepts; the lossy rule accepts more and changes what replies say.</source>
   <translation>Welche Versuche eines Entwurfs das Modell annimmt; die verlustbehaftete Regel nimmt mehr an und ändert, was Antworten sagen.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Who guessed</source>
   <translation>Wer geraten hat</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/votes_view.py" />
   <source>Who guessed: {members}</source>
   <translation>Wer geraten hat: {members}</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Width of drafts</source>
   <translation>Breite der Entwürfe</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/sidebar.py" />
   <source>Width of the chats: left and right change it</source>
   <translation>Breite der Chats: links und rechts ändern sie</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Width of the inspector: left and right change it</source>
   <translation>Breite des Inspektors: links und rechts ändern sie</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Window</source>
   <translation>Fenster</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>With its small helper, {size}</source>
   <translation>Mit seinem kleinen Helfer, {size}</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>With the draft head {title}</source>
   <translation>Mit dem Entwurfskopf {title}</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>With the draft {title}, {size}</source>
   <translation>Mit dem Entwurf {title}, {size}</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Words of the window, from the next start on.</source>
   <translation>Texte des Fensters, ab dem nächsten Start.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Write a message</source>
   <translation>Nachricht schreiben</translation>
  </message>
  <message>
   <location filename="app/bridge/turns.py" />
   <source>Write a message first.</source>
   <translation>Erst eine Nachricht schreiben.</translation>
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>Write a prompt to compare the modes on.</source>
   <translation>Einen Prompt schreiben, an dem verglichen wird.</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Write a short story about a lighthouse</source>
   <translation>Schreibe eine Geschichte über einen Leuchtturm</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Write a whole address, such as {example}.</source>
   <translation>Eine ganze Adresse schreiben, etwa {example}.</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Write an email to this address?</source>
   <translation>Eine E-Mail an diese Adresse schreiben?</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Write below: {model} answers at once. It is very small: quick, often wrong.</source>
   <translation>Unten schreiben: {model} antwortet sofort. Es ist sehr klein: schnell, oft falsch.</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Write below: {model} answers on this computer.</source>
   <translation>Unten schreiben: {model} antwortet auf diesem Computer.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Write what comes next</source>
   <translation>Schreiben Sie weiter</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writes and changes programs, with long contexts and tools; it answers at the speed of a small model.</source>
   <translation>Schreibt und ändert Programme, mit langen Kontexten und Werkzeugen; es antwortet so schnell wie ein kleines Modell.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Writing</source>
   <translation>Schreibt</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writing and conversation, with a long memory for the chat.</source>
   <translation>Schreiben und Gespräche, mit langem Gedächtnis für den Chat.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writing and questions in many languages, long texts too.</source>
   <translation>Schreiben und Fragen in vielen Sprachen, auch lange Texte.</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Writing style</source>
   <translation>Schreibstil</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>Writing, %n token(s)</source>
   <translation>
    <numerusform>Schreibt, %n Token</numerusform>
    <numerusform>Schreibt, %n Tokens</numerusform>
   </translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writing, reasoning and long texts in many languages.</source>
   <translation>Schreiben, Schlussfolgern und lange Texte in vielen Sprachen.</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writing, summaries, code and many languages.</source>
   <translation>Schreiben, Zusammenfassungen, Code und viele Sprachen.</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Yesterday</source>
   <translation>Gestern</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>You</source>
   <translation>Ich</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>You are a helpful assistant.</source>
   <translation>Du bist ein hilfreicher Assistent.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Your chats are from a newer Tenon</source>
   <translation>Die Chats sind von einem neueren Tenon</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Your chats are safe. You can look at the details and report them.</source>
   <translation>Die Chats sind sicher. Die Details lassen sich ansehen und melden.</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Your chats cannot be saved</source>
   <translation>Die Chats lassen sich nicht speichern</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/sidebar.py" />
   <source>Your chats will be listed here.</source>
   <translation>Hier stehen später die Chats.</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/bubble.py" />
   <source>Your message</source>
   <translation>Eigene Nachricht</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Your message is kept.</source>
   <translation>Die Nachricht bleibt erhalten.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Your message stays here. Send it when this reply is done, or stop the reply first.</source>
   <translation>Die Nachricht bleibt hier stehen. Senden, wenn diese Antwort fertig ist, oder die Antwort vorher anhalten.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Your next message starts the model again</source>
   <translation>Die nächste Nachricht startet das Modell neu</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Your system installs it with its other updates: `sudo apt update &amp;&amp; sudo apt install tenon`.</source>
   <translation>Das System installiert es mit den anderen Aktualisierungen: `sudo apt update &amp;&amp; sudo apt install tenon`.</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>about {size}</source>
   <translation>etwa {size}</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>about {speed}</source>
   <translation>etwa {speed}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>about {speed} tok/s</source>
   <translation>etwa {speed} tok/s</translation>
  </message>
  <message>
   <location filename="engine/placement/resident.py" />
   <source>all in memory</source>
   <translation>alles im Arbeitsspeicher</translation>
  </message>
  <message>
   <location filename="engine/placement/split.py" />
   <source>all {layers} layers on the GPU</source>
   <translation>alle {layers} Schichten auf der GPU</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>an unknown method</source>
   <translation>unbekanntes Verfahren</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>and %n more</source>
   <translation>
    <numerusform>und %n weitere</numerusform>
    <numerusform>und %n weitere</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>archived</source>
   <translation>archiviert</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>as fast as plain</source>
   <translation>so schnell wie normal</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>at rest</source>
   <translation>ruht</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/line_plot.py" />
   <source>at the end {value} {unit}</source>
   <translation>am Ende {value} {unit}</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>attention of all {layers} layers and experts of {count} on the GPU, the other experts in memory</source>
   <translation>Attention aller {layers} Schichten und Experten von {count} auf der GPU, die anderen Experten im Speicher</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>attention of all {layers} layers on the GPU, all experts in memory</source>
   <translation>Attention aller {layers} Schichten auf der GPU, alle Experten im Speicher</translation>
  </message>
  <message>
   <location filename="app/ui/composer/attachment_row.py" />
   <source>being read</source>
   <translation>wird gelesen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>buffers</source>
   <translation>Puffer</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>built in, a very small model: quick, often wrong</source>
   <translation>eingebaut, ein sehr kleines Modell: schnell, oft falsch</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>caches</source>
   <translation>Caches</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed_experts.py" />
   <source>chosen experts</source>
   <translation>gewählte Experten</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>config.json names no architecture; download the model's own config.json again.</source>
   <translation>Die config.json nennt keine Architektur: die originale config.json des Modells neu herunterladen.</translation>
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>corrected</source>
   <translation>berichtigt</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>d MMM yyyy</source>
   <translation>d. MMM yyyy</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>disk</source>
   <translation>Festplatte</translation>
  </message>
  <message>
   <location filename="engine/modes/dovetail.py" />
   <source>dovetail</source>
   <translation>Dovetail</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>draft</source>
   <translation>Entwurf</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>draft on the CPU, {where}</source>
   <translation>Entwurf auf der CPU, {where}</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>draft on the GPU, {where}</source>
   <translation>Entwurf auf der GPU, {where}</translation>
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>draft, accepted</source>
   <translation>Entwurf, angenommen</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>drafts on the CPU, {where}</source>
   <translation>Entwürfe auf der CPU, {where}</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>drafts on the GPU and the CPU, {where}</source>
   <translation>Entwürfe auf GPU und CPU, {where}</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>drafts on the GPU, {where}</source>
   <translation>Entwürfe auf der GPU, {where}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>engine alone</source>
   <translation>Engine allein</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>erase</source>
   <translation>löschen</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>exit code {code}</source>
   <translation>Exit-Code {code}</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>experts of {layers} layers</source>
   <translation>Experten von {layers} Schichten</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>first token</source>
   <translation>erster Token</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>first token after {time}</source>
   <translation>erster Token nach {time}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>first token {time}</source>
   <translation>erster Token {time}</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>free {size} GB</source>
   <translation>frei {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>from {source}</source>
   <translation>von {source}</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>gated</source>
   <translation>zugangsbeschränkt</translation>
  </message>
  <message>
   <location filename="engine/modes/ghidorah.py" />
   <source>ghidorah</source>
   <translation>Ghidorah</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>gigabytes</source>
   <translation>Gigabyte</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>guessed and accepted</source>
   <translation>geraten und angenommen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>guessed and not taken</source>
   <translation>geraten und nicht genommen</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>into a terminal</source>
   <translation>in ein Terminal</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>into a terminal, before the program is started</source>
   <translation>in ein Terminal, bevor das Programm gestartet wird</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>into a terminal, to try it</source>
   <translation>in ein Terminal, zum Ausprobieren</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>into {file}, under “models”</source>
   <translation>in {file}, unter „models“</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>it announces more than it holds</source>
   <translation>sie kündigt mehr an, als sie enthält</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>it ends within its list of contents</source>
   <translation>sie endet mitten in ihrem Inhaltsverzeichnis</translation>
  </message>
  <message>
   <location filename="engine/outside_file.py" />
   <source>it is no file that ends</source>
   <translation>es ist keine Datei, die ein Ende hat</translation>
  </message>
  <message>
   <location filename="engine/outside_file.py" />
   <source>it is not a file, but a folder, a pipe or a device</source>
   <translation>es ist keine Datei, sondern ein Ordner, eine Pipe oder ein Gerät</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>it sent something that cannot be read</source>
   <translation>sie hat etwas Unlesbares gesendet</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>its alignment is {alignment}</source>
   <translation>das Alignment ist {alignment}</translation>
  </message>
  <message>
   <location filename="engine/model/packed_loader.py" />
   <source>its columns fill no blocks</source>
   <translation>die Spalten füllen keine Blöcke</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>its header has no valid length</source>
   <translation>der Header hat keine gültige Länge</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>its header is not JSON</source>
   <translation>der Header ist kein JSON</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>its header is not an object</source>
   <translation>der Header ist kein Objekt</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>layer-offload</source>
   <translation>Schicht-Offload</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>llmcad</source>
   <translation>LLMCad</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>loading</source>
   <translation>lädt</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>loading, {percent}</source>
   <translation>lädt, {percent}</translation>
  </message>
  <message>
   <location filename="engine/modes/lookup.py" />
   <source>lookup</source>
   <translation>Nachschlagen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>measured</source>
   <translation>gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>measured here</source>
   <translation>hier gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>measured {speed}</source>
   <translation>gemessen {speed}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>measured {speed}, predicted {prediction}</source>
   <translation>gemessen {speed}, vorhergesagt {prediction}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>measuring</source>
   <translation>misst</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>megabytes per second</source>
   <translation>Megabyte pro Sekunde</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>min</source>
   <translation>min</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>minions</source>
   <translation>Minions</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>missing {size} GB</source>
   <translation>es fehlen {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>no chat text included</source>
   <translation>ohne Text aus Chats</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>no licence stated</source>
   <translation>keine Lizenz angegeben</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>none, everything fits in memory</source>
   <translation>nichts, alles passt in den Speicher</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>none, or the one that is kept</source>
   <translation>keiner, oder der aufbewahrte</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>not loaded</source>
   <translation>nicht geladen</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>not measured</source>
   <translation>nicht gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>not measured yet</source>
   <translation>noch nicht gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/votes_view.py" />
   <source>nothing verified, weight {weight}</source>
   <translation>nichts geprüft, Gewicht {weight}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>nothing yet</source>
   <translation>noch nichts</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>offload</source>
   <translation>Teil-Offload</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on battery</source>
   <translation>Akkubetrieb</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on battery, {charge}</source>
   <translation>Akkubetrieb, {charge}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on mains power</source>
   <translation>Netzbetrieb</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>on {server}</source>
   <translation>auf {server}</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>other programs {size} GB</source>
   <translation>andere Programme {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>others</source>
   <translation>andere</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>paused</source>
   <translation>angehalten</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>pinned</source>
   <translation>angeheftet</translation>
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>plain</source>
   <translation>normal</translation>
  </message>
  <message>
   <location filename="engine/modes/ppd.py" />
   <source>ppd</source>
   <translation>PPD</translation>
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>predicted</source>
   <translation>vorhergesagt</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>predicted for this model, then measured</source>
   <translation>für dieses Modell vorhergesagt, dann gemessen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>predicted from assumed speeds</source>
   <translation>aus angenommenen Werten vorhergesagt</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>predicted {speed}</source>
   <translation>vorhergesagt {speed}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>predicted, from assumed speeds</source>
   <translation>vorhergesagt, aus angenommenen Werten</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>prompt tokens: {count}</source>
   <translation>Prompt-Tokens: {count}</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>ran {mode}</source>
   <translation>lief als {mode}</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>reply running</source>
   <translation>Antwort läuft</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>signal {number}</source>
   <translation>Signal {number}</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>signal {number}, most likely because memory ran out</source>
   <translation>Signal {number}, wohl weil der Speicher ausging</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>since Continue</source>
   <translation>seit „Fortsetzen“</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>stated in its own files</source>
   <translation>in den eigenen Dateien genannt</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: nothing was guessed</source>
   <translation>Schritt {number}: nichts geraten</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: {accepted} accepted</source>
   <translation>Schritt {number}: {accepted} angenommen</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: {accepted} accepted, 1 corrected</source>
   <translation>Schritt {number}: {accepted} angenommen, 1 berichtigt</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>stopped</source>
   <translation>angehalten</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>the bytes of {name} do not match its shape</source>
   <translation>die Bytes von {name} passen nicht zu dessen Form</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>the disk is full</source>
   <translation>die Festplatte ist voll</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>the entry of {name} cannot be read</source>
   <translation>der Eintrag von {name} ist nicht lesbar</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>the host's</source>
   <translation>der des Rechners</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>the model's own</source>
   <translation>vom Modell selbst</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>the model's own, in place of the guesses</source>
   <translation>vom Modell selbst, statt der Versuche</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installation.py" />
   <source>the package index</source>
   <translation>dem Paketindex</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>the texts are identical</source>
   <translation>die Texte sind gleich</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>the texts are identical as far as both came</source>
   <translation>die Texte sind gleich, so weit beide kamen</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>the texts differ from token {number} on</source>
   <translation>die Texte sind ab Token {number} verschieden</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>the token before</source>
   <translation>der Token davor</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>thought</source>
   <translation>gedacht</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>tok/s</source>
   <translation>tok/s</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>tok/s over the reply</source>
   <translation>tok/s während der Antwort</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>tok/s, assumed</source>
   <translation>tok/s, angenommen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>tokens</source>
   <translation>Tokens</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>tokens per second</source>
   <translation>Tokens pro Sekunde</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>two tensors have the same name</source>
   <translation>zwei Tensoren haben denselben Namen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>until the context is full</source>
   <translation>bis der Kontext voll ist</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>used in place</source>
   <translation>am Ort benutzt</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>vLLM, SGLang, llama.cpp, Ollama, LM Studio, another Tenon, or any other that speaks OpenAI's protocol. What you write to one of its models is sent to it.</source>
   <translation>vLLM, SGLang, llama.cpp, Ollama, LM Studio, ein anderer Tenon oder jeder andere, der das Protokoll von OpenAI spricht. Was Sie einem seiner Modelle schreiben, wird an ihn gesendet.</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>waiting for the other reply</source>
   <translation>wartet auf die andere Antwort</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>waits for its turn</source>
   <translation>wartet</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>warming up</source>
   <translation>wird warm</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>weights</source>
   <translation>Gewichte</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>weights go on from the last reply</source>
   <translation>Gewichte gelten von Antwort zu Antwort weiter</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>what the model's makers advise</source>
   <translation>was die Hersteller des Modells empfehlen</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>{active} of {whole} billion active</source>
   <translation>{active} von {whole} Milliarden aktiv</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>{address} is no address of a package index: it must begin with https://.</source>
   <translation>{address} ist keine Adresse eines Paketindex: sie muss mit https:// beginnen.</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>{address} is no address of a server: write it like http://desk:8000 or https://models.example.org.</source>
   <translation>{address} ist keine Adresse eines Servers: Schreiben Sie sie wie http://desk:8000 oder https://models.example.org.</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>{architecture} without a text part ({part} in config.json) writes no text; choose another model.</source>
   <translation>{architecture} ohne Textteil ({part} in config.json) schreibt keinen Text; wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>{beginning}… and {count} characters more</source>
   <translation>{beginning}… und {count} weitere Zeichen</translation>
  </message>
  <message>
   <location filename="app/ui/choice_popup.py" />
   <source>{choice}, in use</source>
   <translation>{choice}, in Gebrauch</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>{count} missing ({names})</source>
   <translation>{count} fehlend ({names})</translation>
  </message>
  <message>
   <location filename="engine/model/packed_loader.py" />
   <source>{count} of the model's matrices do not fit {name} and stay in bf16 ({first}: {why}).</source>
   <translation>{count} der Matrizen des Modells passen nicht in {name} und bleiben in bf16 ({first}: {why}).</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>{count} of the wrong shape ({names})</source>
   <translation>{count} mit falscher Form ({names})</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed_experts.py" />
   <source>{count} of {experts} experts of each layer</source>
   <translation>{count} von {experts} Experten jeder Schicht</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed.py" />
   <source>{count} of {layers} layers in memory, the others read from the disk</source>
   <translation>{count} von {layers} Schichten im Arbeitsspeicher, die anderen von der Festplatte gelesen</translation>
  </message>
  <message>
   <location filename="engine/placement/layer_offload.py" />
   <source>{count} of {layers} layers on the GPU, the others copied there as needed</source>
   <translation>{count} von {layers} Schichten auf der GPU, die anderen nach Bedarf dorthin kopiert</translation>
  </message>
  <message>
   <location filename="engine/placement/split.py" />
   <source>{count} of {layers} layers on the GPU, the others in memory</source>
   <translation>{count} von {layers} Schichten auf der GPU, die anderen im Arbeitsspeicher</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>{count} unexpected ({names})</source>
   <translation>{count} unerwartet ({names})</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>{done} of %n mode(s) done</source>
   <translation>
    <numerusform>{done} von %n Modus fertig</numerusform>
    <numerusform>{done} von %n Modi fertig</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>{done} of {total}</source>
   <translation>{done} von {total}</translation>
  </message>
  <message>
   <location filename="engine/drafting/kinds.py" />
   <source>{draft}: {problem}</source>
   <translation>{draft}: {problem}</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{extent}, text missing</source>
   <translation>{extent}, Text fehlt</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_choice.py" />
   <source>{file_name} on the package index is no wheel: give another index.</source>
   <translation>{file_name} im Paketindex ist kein Wheel: einen anderen Index angeben.</translation>
  </message>
  <message>
   <location filename="engine/kernels/library.py" />
   <source>{file} cannot be loaded: {error}.</source>
   <translation>{file} lässt sich nicht laden: {error}.</translation>
  </message>
  <message>
   <location filename="engine/weights/watched_file.py" />
   <source>{file} ended while {name} was read; download it again.</source>
   <translation>{file} endete, während {name} gelesen wurde: neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/kernels/library.py" />
   <source>{file} is from another version; `python -m engine.kernels.build` rebuilds it.</source>
   <translation>{file} stammt aus einer anderen Version: `python -m engine.kernels.build` baut die Datei neu.</translation>
  </message>
  <message>
   <location filename="engine/kernels/library.py" />
   <source>{file} was not built; `python -m engine.kernels.build` builds it.</source>
   <translation>{file} wurde nicht gebaut: `python -m engine.kernels.build` baut die Datei.</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>{folder} cannot be removed: close what uses the model, or check who owns it.</source>
   <translation>{folder} lässt sich nicht entfernen: schließen, was das Modell benutzt, oder prüfen, wem der Ordner gehört.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installed_addon.py" />
   <source>{folder} cannot be removed: end the command that is fetching GPU support, or check who owns it.</source>
   <translation>{folder} lässt sich nicht entfernen: den Befehl beenden, der die GPU-Unterstützung holt, oder prüfen, wem der Ordner gehört.</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>{folder} holds more than one GGUF model: give the file that you want.</source>
   <translation>{folder} enthält mehr als ein GGUF-Modell: die gewünschte Datei angeben.</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>{folder} holds no weights that Tenon reads: give a folder with model.safetensors (or shards and their index), or a GGUF file.</source>
   <translation>{folder} enthält keine Gewichte, die Tenon liest: einen Ordner mit model.safetensors (oder Shards mit ihrem Index) oder eine GGUF-Datei angeben.</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>{folder} is a file: give the model folder, the one that holds config.json, or a GGUF file.</source>
   <translation>{folder} ist eine Datei: den Modellordner angeben, in dem config.json liegt, oder eine GGUF-Datei.</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>{folder} is a pipe, a device or a socket: give the model folder, the one that holds config.json, or a GGUF file.</source>
   <translation>{folder} ist eine Pipe, ein Gerät oder ein Socket: den Modellordner angeben, in dem config.json liegt, oder eine GGUF-Datei.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>{folder} is not there yet: nothing was put into it.</source>
   <translation>{folder} gibt es noch nicht: es wurde nichts hineingelegt.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>{free} are free on the disk of Tenon's models.</source>
   <translation>Auf der Festplatte mit Tenons Modellen sind {free} frei.</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>{free} are free on the disk.</source>
   <translation>Auf der Festplatte sind {free} frei.</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>{free} are free on the disk; {left} stay free.</source>
   <translation>{free} sind auf der Festplatte frei; {left} bleiben frei.</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>{here}. {message}</source>
   <translation>{here}. {message}</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{hours} h left</source>
   <translation>noch {hours} h</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{index} cannot be read; download it again.</source>
   <translation>{index} ist nicht lesbar: neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{index} names files outside its folder; download the model from its own source.</source>
   <translation>{index} nennt Dateien außerhalb seines Ordners: das Modell aus der ursprünglichen Quelle herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{key} is there twice</source>
   <translation>{key} kommt doppelt vor</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{kind} is no type of an array</source>
   <translation>{kind} ist kein Typ für Arrays</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{kind} is no type of metadata</source>
   <translation>{kind} ist kein Typ für Metadaten</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{kind}, {size} free</source>
   <translation>{kind}, {size} frei</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>{layers} layers without experts</source>
   <translation>{layers} Schichten ohne Experten</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>{layers} layers, {count} with experts</source>
   <translation>{layers} Schichten, {count} mit Experten</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>{location} is not there any more: plug its disk in, or import the model again.</source>
   <translation>{location} ist nicht mehr da: die Festplatte anschließen oder das Modell neu importieren.</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{minutes} min left</source>
   <translation>noch {minutes} min</translation>
  </message>
  <message>
   <location filename="engine/gguf/parts.py" />
   <source>{missing} is not there ({absent} of {count} parts are missing); download the model again.</source>
   <translation>{missing} ist nicht da (fehlende Teile: {absent} von {count}): das Modell neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{missing} is not there ({absent} of {count} weights files are missing); download the model again.</source>
   <translation>{missing} ist nicht da (fehlende Gewichtsdateien: {absent} von {count}): das Modell neu herunterladen.</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model} answers on this computer. What you write stays here.</source>
   <translation>{model} antwortet auf diesem Computer. Was hier geschrieben wird, bleibt hier.</translation>
  </message>
  <message>
   <location filename="engine/remote/remote_reply.py" />
   <source>{model} answers on {server} ({kind}, {address}).</source>
   <translation>{model} antwortet auf {server} ({kind}, {address}).</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model} answers on {server}. What you write is sent there.</source>
   <translation>{model} antwortet auf {server}. Was Sie schreiben, wird dorthin gesendet.</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model} goes on with a text that you begin. It was not made for chats.</source>
   <translation>{model} führt einen Text fort, den Sie beginnen. Für Chats wurde es nicht gemacht.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>{model} has a value of its own: {value}.</source>
   <translation>{model} hat einen eigenen Wert: {value}.</translation>
  </message>
  <message>
   <location filename="app/bridge/open_chat.py" />
   <source>{model} is not on this computer any more: {other} answers in this chat from here on.</source>
   <translation>{model} ist nicht mehr auf diesem Computer: von hier an antwortet {other} in diesem Chat.</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>{model} runs on the server {server}, and none of its files are here: choose a model of this computer for this.</source>
   <translation>{model} läuft auf dem Server {server}, und keine seiner Dateien ist hier: Wählen Sie dafür ein Modell dieses Computers.</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model}, a very small model: quick, often wrong.</source>
   <translation>{model}, ein sehr kleines Modell: schnell, oft falsch.</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>{mode} drafts with {drafts} alone; not used: {unused}.</source>
   <translation>{mode} nimmt als Entwurf nur {drafts}; nicht benutzt: {unused}.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{mode} is the fastest here</source>
   <translation>{mode} ist hier am schnellsten</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>{mode} was chosen and gains nothing here.</source>
   <translation>{mode} ist gewählt und bringt hier nichts.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/width_panel.py" />
   <source>{mode} with {draft}: tok/s by the tokens that a pass of the model checks.</source>
   <translation>{mode} mit {draft}: Tok/s nach der Zahl der Tokens, die ein Durchgang des Modells prüft.</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{mode} wrote {times} times as fast</source>
   <translation>{mode} schrieb {times}-mal so schnell</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{mode} wrote {times} times as fast, but almost no guess held, so that was chance</source>
   <translation>{mode} schrieb {times}-mal so schnell, aber kaum ein Versuch hielt, das war also Zufall</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{mode}: {figures}</source>
   <translation>{mode}: {figures}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{mode}: {speed} tok/s</source>
   <translation>{mode}: {speed} tok/s</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{mode}: {speed} tok/s, predicted {predicted}</source>
   <translation>{mode}: {speed} tok/s, vorhergesagt {predicted}</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/file_drops.py" />
   <source>{name} and %n more</source>
   <translation>
    <numerusform>{name} und %n weitere</numerusform>
    <numerusform>{name} und %n weitere</numerusform>
   </translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} cannot be read ({reason}): check its rights, or attach another file.</source>
   <translation>{name} kann nicht gelesen werden ({reason}): Prüfen Sie die Rechte, oder hängen Sie eine andere Datei an.</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>{name} cannot be the server's name, because the key of {other} is kept by the same variable: take another one.</source>
   <translation>{name} kann nicht der Name des Servers sein, weil der Schlüssel von {other} in derselben Variablen steht: einen anderen nehmen.</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>{name} cannot be the server's name: take another one, of 40 characters at most and without a slash.</source>
   <translation>{name} kann nicht der Name des Servers sein: Nehmen Sie einen anderen, mit höchstens 40 Zeichen und ohne Schrägstrich.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/unpacking.py" />
   <source>{name} cannot be unpacked: fetch it again.</source>
   <translation>{name} lässt sich nicht entpacken: neu holen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} cannot be {kind} of the shape {shape}</source>
   <translation>{name} kann nicht {kind} mit der Form {shape} sein</translation>
  </message>
  <message>
   <location filename="engine/weights/head_checkpoint.py" />
   <source>{name} does not hold a table of tensors; choose another draft.</source>
   <translation>{name} enthält keine Tabelle von Tensoren: einen anderen Entwurf wählen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} ends at byte {stop} of {size}</source>
   <translation>{name} endet bei Byte {stop} von {size}</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>{name} has driver {driver}, and GPU support needs {drivers} or newer: update NVIDIA's driver, and look again.</source>
   <translation>{name} hat Treiber {driver}, die GPU-Unterstützung braucht aber {drivers} oder neuer: den Treiber von NVIDIA aktualisieren und neu suchen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>{name} has driver {driver}, and {title} needs {least_driver} or newer: update NVIDIA's driver, and look again.</source>
   <translation>{name} hat Treiber {driver}, {title} braucht aber {least_driver} oder neuer: den Treiber von NVIDIA aktualisieren und neu suchen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} has more than {most} characters of text: attach the part that matters.</source>
   <translation>{name} hat mehr als {most} Zeichen Text: den wichtigen Teil anhängen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>{name} has no driver of NVIDIA's: install it, and look again.</source>
   <translation>{name} hat keinen Treiber von NVIDIA: ihn installieren und neu suchen.</translation>
  </message>
  <message>
   <location filename="engine/hub/verification.py" />
   <source>{name} has no record of what it should be: import it with `tenon models import` first.</source>
   <translation>Von {name} ist nicht festgehalten, wie es sein soll: es erst mit `tenon models import` importieren.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} has no text: it is a scan, so have a program recognize its text (OCR) first.</source>
   <translation>{name} hat keinen Text, sondern ist ein Scan: den Text erst mit einem Programm erkennen lassen (OCR).</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} has {dimensions} dimensions</source>
   <translation>{name} hat {dimensions} Dimensionen</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} has {size} MiB, but an attachment of its kind holds {most} MiB at most: attach the part that matters.</source>
   <translation>{name} hat {size} MiB, ein Anhang dieser Art fasst aber höchstens {most} MiB: den wichtigen Teil anhängen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} holds no text that can be read: attach text, PDF, DOCX, HTML or EPUB.</source>
   <translation>{name} enthält keinen lesbaren Text: Text, PDF, DOCX, HTML oder EPUB anhängen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>{name} in the prompt tokens' adapter_config.json is {value}, and Tenon runs 1 to {most}: choose another set.</source>
   <translation>{name} in der adapter_config.json der Prompt-Tokens ist {value}, Tenon führt 1 bis {most} aus: einen anderen Satz wählen.</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>{name} in the prompt tokens' adapter_config.json is {value}, and must be a whole number of 1 or more; correct it, or choose another set.</source>
   <translation>{name} in der adapter_config.json der Prompt-Tokens ist {value}, muss aber eine ganze Zahl ab 1 sein: berichtigen oder einen anderen Satz wählen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is RTF, which Tenon does not read: save it as DOCX or plain text, then attach it again.</source>
   <translation>{name} ist RTF, das Tenon nicht liest: als DOCX oder reinen Text speichern und neu anhängen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} is a GGUF file of version {version}, and Tenon reads versions 2 and 3 in little-endian order; download a newer file of this model.</source>
   <translation>{name} ist eine GGUF-Datei der Version {version}, Tenon liest aber die Versionen 2 und 3 in Little-Endian-Reihenfolge: eine neuere Datei dieses Modells herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/hub/bundled.py" />
   <source>{name} is a model that ships with Tenon: give another name with --name.</source>
   <translation>{name} ist ein Modell, das mit Tenon kommt: mit --name einen anderen Namen angeben.</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>{name} is added.</source>
   <translation>{name} ist hinzugefügt.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>{name} is being imported...</source>
   <translation>{name} wird importiert...</translation>
  </message>
  <message>
   <location filename="app/ui/composer/composer.py" />
   <source>{name} is being read</source>
   <translation>{name} wird gelesen</translation>
  </message>
  <message>
   <location filename="engine/weights/head_checkpoint.py" />
   <source>{name} is damaged or holds more than weights; download it again, or choose another draft.</source>
   <translation>{name} ist beschädigt oder enthält mehr als Gewichte: neu herunterladen oder einen anderen Entwurf wählen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is damaged, or no {title}: open it in another program and save it again.</source>
   <translation>{name} ist beschädigt oder kein {title}: in einem anderen Programm öffnen und neu speichern.</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>{name} is damaged: {files}. Get or add it again.</source>
   <translation>{name} ist beschädigt: {files}. Neu holen oder hinzufügen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is empty: attach a file with text in it.</source>
   <translation>{name} ist leer: eine Datei mit Text anhängen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is not UTF-8 text: save it as UTF-8, then attach it again.</source>
   <translation>{name} ist kein UTF-8-Text: als UTF-8 speichern und neu anhängen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} is not a GGUF file; download it again.</source>
   <translation>{name} ist keine GGUF-Datei: neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>{name} is not a safetensors file ({why}); download it again.</source>
   <translation>{name} ist keine safetensors-Datei ({why}): neu herunterladen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_news.py" />
   <source>{name} is not here yet. {message}</source>
   <translation>{name} ist noch nicht hier. {message}</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is not there: choose the file again.</source>
   <translation>{name} ist nicht da: die Datei neu auswählen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>{name} is older than what today's torch was built for: Tenon runs on the processor here.</source>
   <translation>Für {name} ist das heutige torch nicht mehr gebaut: Tenon läuft hier auf dem Prozessor.</translation>
  </message>
  <message>
   <location filename="engine/gguf/parts.py" />
   <source>{name} is one part of a model, and part {number} is not there ({absent} of {count} parts are missing); put it beside the others, or download the model again.</source>
   <translation>{name} ist ein Teil eines Modells, und Teil {number} ist nicht da (fehlende Teile: {absent} von {count}): ihn neben die anderen legen oder das Modell neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/gguf/files.py" />
   <source>{name} is one piece of the GGUF file {whole}, which was cut up: join all of its pieces, in the order of their names, with `cat PIECE PIECE ... &gt; {whole}` (on Windows `copy /b PIECE+PIECE+... {whole}`), and choose that file.</source>
   <translation>{name} ist ein Stück der GGUF-Datei {whole}, die zerschnitten wurde: Fügen Sie alle Stücke in der Reihenfolge ihrer Namen zusammen, mit `cat STÜCK STÜCK ... &gt; {whole}` (unter Windows `copy /b STÜCK+STÜCK+... {whole}`), und wählen Sie diese Datei.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is protected: save it without a password, then attach it again.</source>
   <translation>{name} ist geschützt: ohne Passwort speichern und neu anhängen.</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_news.py" />
   <source>{name} is ready.</source>
   <translation>{name} ist bereit.</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>{name} is removed; {size} are free again.</source>
   <translation>{name} ist entfernt; {size} sind wieder frei.</translation>
  </message>
  <message>
   <location filename="app/ui/attaching.py" />
   <source>{name} is still being read: send your message when it is there.</source>
   <translation>{name} wird noch gelesen: die Nachricht danach senden.</translation>
  </message>
  <message>
   <location filename="app/bridge/models/installed.py" />
   <source>{name} is still being read: wait for that, or stop it.</source>
   <translation>{name} wird noch gelesen: abwarten oder anhalten.</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>{name} is truncated or no safetensors file: download it again.</source>
   <translation>{name} ist abgeschnitten oder keine safetensors-Datei: neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>{name} is truncated: {size_bytes} bytes are there, its header alone needs {needed}; download it again.</source>
   <translation>{name} ist abgeschnitten: {size_bytes} Byte sind da, allein der Header braucht {needed}; neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>{name} is truncated: {size_bytes} bytes are there, {needed} are needed; download it again.</source>
   <translation>{name} ist abgeschnitten: {size_bytes} Byte sind da, {needed} sind nötig; neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>{name} is {found} and not {shape}</source>
   <translation>{name} ist {found} statt {shape}</translation>
  </message>
  <message>
   <location filename="engine/hub/download/transfer.py" />
   <source>{name} of {repo} arrived damaged twice: try again later, or from another network or mirror.</source>
   <translation>{name} von {repo} kam zweimal beschädigt an: später neu versuchen oder über ein anderes Netz oder einen anderen Spiegelserver.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{name} of {repo} has another length than the hub says: try again, or check the proxy or the mirror between.</source>
   <translation>{name} von {repo} hat eine andere Länge, als der Hub angibt: neu versuchen oder den Proxy oder Spiegelserver dazwischen prüfen.</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>{name} of {repo} has another length than the package index says: try again, or check the proxy or the mirror between.</source>
   <translation>{name} von {repo} hat eine andere Länge, als der Paketindex angibt: neu versuchen oder den Proxy oder Spiegelserver dazwischen prüfen.</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>{name} of {repo} is no JSON: choose another model.</source>
   <translation>{name} von {repo} ist kein JSON: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>{name} of {repo} is no config: choose another model.</source>
   <translation>{name} von {repo} ist keine Konfiguration: ein anderes Modell wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>{name} ships with Tenon and is no installed model: it can be neither removed nor verified.</source>
   <translation>{name} gehört zu Tenon und ist kein installiertes Modell: es lässt sich weder entfernen noch prüfen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} takes more than {most} MiB of memory to read: attach a part of it, or its text alone.</source>
   <translation>{name} braucht beim Lesen mehr als {most} MiB Speicher: nur einen Teil oder nur den Text anhängen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} took longer than {seconds} s to read: attach a part of it, or its text alone.</source>
   <translation>{name} war in {seconds} s nicht zu lesen: nur einen Teil oder nur den Text anhängen.</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} unpacks to far more than a document has: attach its text alone.</source>
   <translation>{name} wird beim Entpacken viel größer als ein Dokument: nur den Text anhängen.</translation>
  </message>
  <message>
   <location filename="engine/unfinished_file.py" />
   <source>{name} was damaged: what can be read of it is in use, what is missing has to be entered again, and the damaged file is kept as {path}.</source>
   <translation>{name} war beschädigt: Was davon lesbar ist, gilt weiter, was fehlt, ist neu einzugeben, und die beschädigte Datei ist als {path} aufgehoben.</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>{name} was not imported.</source>
   <translation>{name} wurde nicht importiert.</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>{name} was not imported. {reason}</source>
   <translation>{name} wurde nicht importiert. {reason}</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} was saved by Word before 2007: save it as DOCX, then attach it again.</source>
   <translation>{name} wurde von Word vor 2007 gespeichert: als DOCX speichern und neu anhängen.</translation>
  </message>
  <message>
   <location filename="engine/text/attached_turns.py" />
   <source>{name}, page {page}</source>
   <translation>{name}, Seite {page}</translation>
  </message>
  <message>
   <location filename="engine/text/attached_turns.py" />
   <source>{name}, pages {pages}</source>
   <translation>{name}, Seiten {pages}</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>{name}: all files are what they were.</source>
   <translation>{name}: alle Dateien sind, wie sie waren.</translation>
  </message>
  <message>
   <location filename="engine/sizes.py" />
   <source>{number} bytes</source>
   <translation>{number} Byte</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>{number} of {total}</source>
   <translation>{number} von {total}</translation>
  </message>
  <message>
   <location filename="engine/messages/modes.py" />
   <source>{option} is {value}, but {other} is {most}: choose a number that is not above it.</source>
   <translation>{option} ist {value}, aber {other} ist {most}: eine Zahl wählen, die nicht darüber liegt.</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>{option}: choose a number from {least} to {most}, not {value}.</source>
   <translation>{option}: eine Zahl von {least} bis {most} wählen, nicht {value}.</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>{option}: choose a whole number from {least} to {most}, not {value}.</source>
   <translation>{option}: eine ganze Zahl von {least} bis {most} wählen, nicht {value}.</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>{option}: choose true or false, not {value}.</source>
   <translation>{option}: true oder false wählen, nicht {value}.</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>{option}: choose {names}, or a whole number from {least} to {most}, not {value}.</source>
   <translation>{option}: Wählen Sie {names} oder eine ganze Zahl von {least} bis {most}, nicht {value}.</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed_experts.py" />
   <source>{part} in memory, the others read from the disk when they are chosen</source>
   <translation>{part} im Speicher, die anderen werden von der Festplatte gelesen, wenn sie gewählt sind</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{part} of {whole}</source>
   <translation>{part} von {whole}</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} cannot be opened ({reason}): close programs that you do not need, and try again.</source>
   <translation>{path} kann nicht geöffnet werden ({reason}): Schließen Sie Programme, die Sie nicht brauchen, und versuchen Sie es erneut.</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} cannot be read or written ({reason}): check the disk.</source>
   <translation>{path} lässt sich nicht lesen oder schreiben ({reason}): die Festplatte prüfen.</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} cannot be read or written ({reason}): give yourself the rights, or choose another folder.</source>
   <translation>{path} lässt sich nicht lesen oder schreiben ({reason}): sich die Rechte geben oder einen anderen Ordner wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/record.py" />
   <source>{path} cannot be read: download or import the model again.</source>
   <translation>{path} ist nicht lesbar: das Modell neu herunterladen oder importieren.</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{path} cannot be read: {reason}.</source>
   <translation>{path} ist nicht lesbar: {reason}.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{path} cannot be read; download it again.</source>
   <translation>{path} ist nicht lesbar: neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} cannot be written, because the disk is full: free some room.</source>
   <translation>{path} lässt sich nicht schreiben, denn die Festplatte ist voll: Platz schaffen.</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{path} does not hold a config; download it again.</source>
   <translation>{path} enthält keine Konfiguration: neu herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} is not there: it was moved, or its disk was taken out. Put it back, or choose another.</source>
   <translation>{path} ist nicht da: verschoben, oder der Datenträger wurde entfernt. Zurückstellen, oder etwas anderes wählen.</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} stands in the way ({reason}): move it elsewhere.</source>
   <translation>{path} ist im Weg ({reason}): an einen anderen Ort verschieben.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{path} stands in the way: move it elsewhere.</source>
   <translation>{path} ist im Weg: an einen anderen Ort verschieben.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/votes_view.py" />
   <source>{percent} % held, weight {weight}</source>
   <translation>{percent} % hielten, Gewicht {weight}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>{percent} at position {place}</source>
   <translation>{percent} an Position {place}</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{place} holds an adapter of a kind that Tenon does not run: of adapters it takes prompt tokens alone. Choose the model with the adapter merged into it.</source>
   <translation>{place} enthält einen Adapter einer Art, die Tenon nicht ausführt: von den Adaptern nimmt es nur Prompt-Tokens. Das Modell wählen, in das der Adapter eingerechnet ist.</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>{place} is not there any more: it was moved, or its disk was taken out. Put it back, and what is here is saved in it.</source>
   <translation>{place} ist nicht mehr da: verschoben, oder der Datenträger wurde entfernt. Zurückstellen, dann wird gespeichert, was hier ist.</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{place}: {part} of {whole} GB: {shares}</source>
   <translation>{place}: {part} von {whole} GB: {shares}</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>{problem} Nothing of this session is saved.</source>
   <translation>{problem} Nichts aus dieser Sitzung wird gespeichert.</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>{problem} The catalogue and your own models are still here.</source>
   <translation>{problem} Der Katalog und die eigenen Modelle sind weiterhin da.</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>{reference} is not on this computer. The catalogue has {names}: download on the page Models or with `tenon models get`.</source>
   <translation>{reference} ist nicht auf diesem Computer. Der Katalog hat {names}: auf der Seite Modelle oder mit `tenon models get` herunterladen.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{repo} has no such revision any more: get it again at its present one.</source>
   <translation>{repo} hat diese Revision nicht mehr: in der jetzigen neu holen.</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} has no {quantization}: its files name none.</source>
   <translation>{repo} hat kein {quantization}: seine Dateien nennen keine Quantisierung.</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} has no {quantization}: there are {others}.</source>
   <translation>{repo} hat kein {quantization}: es gibt {others}.</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} holds no GGUF files: look for its GGUF version with `tenon models search`, or take --format safetensors.</source>
   <translation>{repo} enthält keine GGUF-Dateien: seine GGUF-Version mit `tenon models search` suchen oder --format safetensors nehmen.</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} holds no weights that Tenon reads: choose a repository with safetensors or GGUF files.</source>
   <translation>{repo} enthält keine Gewichte, die Tenon liest: ein Repository mit safetensors- oder GGUF-Dateien wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} holds weights in PyTorch's own format alone: choose a repository with safetensors or GGUF files.</source>
   <translation>{repo} enthält nur Gewichte im eigenen Format von PyTorch: ein Repository mit safetensors- oder GGUF-Dateien wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{repo} is gated, and Tenon sends no access token to {endpoint}, because the connection is not encrypted: set HF_ENDPOINT to an address that begins with https.</source>
   <translation>{repo} ist zugangsbeschränkt, und Tenon sendet keinen Zugangstoken an {endpoint}, denn die Verbindung ist nicht verschlüsselt: HF_ENDPOINT auf eine Adresse setzen, die mit https beginnt.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{repo} is gated, and your access token's account has not been let in: accept its terms at {page}, wait until its owner agrees, and try again.</source>
   <translation>{repo} ist zugangsbeschränkt, und das Konto des Zugangstokens ist nicht zugelassen: die Bedingungen unter {page} annehmen, die Zustimmung des Anbieters abwarten und neu versuchen.</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{repo} is gated: accept its terms at {page}, then keep an access token of your account with `tenon models token`.</source>
   <translation>{repo} ist zugangsbeschränkt: die Bedingungen unter {page} annehmen, dann mit `tenon models token` einen Zugangstoken des eigenen Kontos hinterlegen.</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>{repo} is no repository of the hub: write it like owner/name.</source>
   <translation>{repo} ist kein Repository des Hubs: in der Form owner/name schreiben.</translation>
  </message>
  <message>
   <location filename="engine/hub/outline.py" />
   <source>{repo} says nothing of the model's shape before it is downloaded: get it first.</source>
   <translation>{repo} sagt vor dem Herunterladen nichts über den Aufbau des Modells: es erst holen.</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>{resident} for {name} weights and {context} tokens of context</source>
   <translation>{resident} für Gewichte in {name} und {context} Tokens Kontext</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>{resident} for {name} weights and {context} tokens of context, or {least} when its layers are read from the disk for each token</source>
   <translation>{resident} für Gewichte in {name} und {context} Tokens Kontext, oder {least}, wenn seine Schichten für jeden Token von der Festplatte gelesen werden</translation>
  </message>
  <message>
   <location filename="app/ui/machine/width_panel.py" />
   <source>{rows}, chosen</source>
   <translation>{rows}, gewählt</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{seconds} s left</source>
   <translation>noch {seconds} s</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} cannot be reached at {address}: check the address and the network, and whether it runs.</source>
   <translation>{server} ist unter {address} nicht zu erreichen: Prüfen Sie die Adresse und das Netz, und ob er läuft.</translation>
  </message>
  <message>
   <location filename="engine/remote/remote_reply.py" />
   <source>{server} cut the reply by a filter of its own.</source>
   <translation>{server} hat die Antwort durch einen eigenen Filter gekürzt.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} did not answer in time: try again when it has less to do.</source>
   <translation>{server} hat nicht rechtzeitig geantwortet: neu versuchen, wenn er weniger zu tun hat.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} did not bring the reply on within {minutes} minutes, so it was ended here: try again when the server has less to do.</source>
   <translation>{server} hat die Antwort nicht innerhalb von {minutes} Minuten weitergebracht, darum wurde sie hier beendet: neu versuchen, wenn der Server weniger zu tun hat.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} does not accept the key: add the server again with the right one.</source>
   <translation>{server} nimmt den Schlüssel nicht an: Fügen Sie den Server noch einmal mit dem richtigen hinzu.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} ended the reply before its first word: shorten the message, which may be longer than the model's context there, or look into the server's log.</source>
   <translation>{server} beendete die Antwort vor ihrem ersten Wort: Kürzen Sie die Nachricht, die länger sein kann als der Kontext des Modells dort, oder sehen Sie in das Protokoll des Servers.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} failed with the status {status}: try again.</source>
   <translation>{server} scheiterte mit dem Status {status}: Versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} has no model {model} any more: choose another one of its models.</source>
   <translation>{server} hat kein Modell {model} mehr: Wählen Sie ein anderes seiner Modelle.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} has too much to do: try again in a minute.</source>
   <translation>{server} hat zu viel zu tun: Versuchen Sie es in einer Minute noch einmal.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} has too much to do: try again in {seconds} s.</source>
   <translation>{server} hat zu viel zu tun: Versuchen Sie es in {seconds} s noch einmal.</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/keeping.py" />
   <source>{server} is added, with %n model(s).</source>
   <translation>
    <numerusform>{server} ist hinzugefügt, mit %n Modell.</numerusform>
    <numerusform>{server} ist hinzugefügt, mit %n Modellen.</numerusform>
   </translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} is starting, or has no room for another request ({status}): try again in a minute.</source>
   <translation>{server} startet gerade oder hat keinen Platz für eine weitere Anfrage ({status}): Versuchen Sie es in einer Minute noch einmal.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} refused the request ({status}): {words}</source>
   <translation>{server} hat die Anfrage abgelehnt ({status}): {words}</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} sends every request on to {place}, and Tenon sends neither your words nor the key after it: add that address if it is the right one.</source>
   <translation>{server} schickt jede Anfrage weiter zu {place}, und Tenon sendet weder Ihre Worte noch den Schlüssel hinterher: Fügen Sie jene Adresse hinzu, wenn sie die richtige ist.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} sent more than {size} at once, which is no part of a reply: check the address, and what stands between it and this computer.</source>
   <translation>{server} hat mehr als {size} auf einmal gesendet, was kein Teil einer Antwort ist: die Adresse prüfen und was zwischen ihr und diesem Computer steht.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} sent something that is no part of a reply: try again, or check what stands between it and this computer.</source>
   <translation>{server} sandte etwas, das kein Teil einer Antwort ist: Versuchen Sie es noch einmal, oder prüfen Sie, was zwischen ihm und diesem Computer steht.</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} wants a key: add the server again with one.</source>
   <translation>{server} verlangt einen Schlüssel: Fügen Sie den Server noch einmal mit einem hinzu.</translation>
  </message>
  <message>
   <location filename="engine/remote/remote_reply.py" />
   <source>{server} wrote on past the limit of the reply, so Tenon ended it there.</source>
   <translation>{server} hat über die Grenze der Antwort hinaus geschrieben, darum hat Tenon sie dort beendet.</translation>
  </message>
  <message>
   <location filename="engine/placement/columns.py" />
   <source>{share} % of each layer's columns on the GPU, the others in memory</source>
   <translation>{share} % der Spalten jeder Schicht auf der GPU, die anderen im Arbeitsspeicher</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{share} read for each step</source>
   <translation>{share} für jeden Schritt gelesen</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/long_text.py" />
   <source>{shown} of {all} characters are shown</source>
   <translation>{shown} von {all} Zeichen werden gezeigt</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>{size} GB of memory</source>
   <translation>{size} GB Speicher</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>{size} GB on the GPU</source>
   <translation>{size} GB auf der GPU</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>{size} GB on {device}</source>
   <translation>{size} GB auf {device}</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>{size} are copied there, compared, and then deleted where they are now.</source>
   <translation>{size} werden dorthin kopiert, verglichen und dann am alten Ort gelöscht.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{size} free</source>
   <translation>{size} frei</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>{size} of it are here and would be removed. Paused, it can go on later.</source>
   <translation>{size} davon sind hier und würden entfernt. Angehalten kann es später weitergehen.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{size} of swap</source>
   <translation>{size} Auslagerungsspeicher</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{source} cannot be changed: check who owns it.</source>
   <translation>{source} lässt sich nicht ändern: prüfen, wem der Ordner gehört.</translation>
  </message>
  <message>
   <location filename="engine/hub/other_programs.py" />
   <source>{source} has no model {name} on this computer any more: choose another one, or get it again there.</source>
   <translation>{source} hat auf diesem Computer kein Modell {name} mehr: ein anderes wählen oder es dort neu holen.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{source} is not there: plug its disk in, and move the models then.</source>
   <translation>{source} ist nicht da: den Datenträger anschließen und die Modelle dann verschieben.</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{speeds}; {texts}.</source>
   <translation>{speeds}; {texts}.</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{speed}: no other mode was faster.</source>
   <translation>{speed}: kein anderer Modus war schneller.</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>{taken} of {room} GB</source>
   <translation>{taken} von {room} GB</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{target} is a file: choose a folder.</source>
   <translation>{target} ist eine Datei: einen Ordner wählen.</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{target} is not empty: choose an empty folder, or make a new one in it.</source>
   <translation>{target} ist nicht leer: einen leeren Ordner wählen oder darin einen neuen anlegen.</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{tau} tokens/step</source>
   <translation>{tau} Tokens/Schritt</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{there} cannot be written to: choose another folder.</source>
   <translation>In {there} lässt sich nicht schreiben: einen anderen Ordner wählen.</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{times} times plain</source>
   <translation>{times}-mal normal</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{time} in all</source>
   <translation>{time} insgesamt</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installation.py" />
   <source>{title} needs the address of a package index: {caution}</source>
   <translation>{title} braucht die Adresse eines Paketindex. {caution}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/line_plot.py" />
   <source>{title} over the reply: {words}</source>
   <translation>{title} während der Antwort: {words}</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>{title}, folded, %n chat(s)</source>
   <translation>
    <numerusform>{title}, zugeklappt, %n Chat</numerusform>
    <numerusform>{title}, zugeklappt, %n Chats</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>{title}, unfolded, %n chat(s)</source>
   <translation>
    <numerusform>{title}, aufgeklappt, %n Chat</numerusform>
    <numerusform>{title}, aufgeklappt, %n Chats</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>{title}: {size} to fetch from {address}, {unpacked} on the disk</source>
   <translation>{title}: {size} von {address} zu holen, {unpacked} auf der Festplatte</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{tokens} tokens</source>
   <translation>{tokens} Tokens</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>{token}, found likely by {percent} %</source>
   <translation>{token}, zu {percent} % erwartet</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>{token}, guessed by {members}</source>
   <translation>{token}, geraten von {members}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>{token}, step {number}</source>
   <translation>{token}, Schritt {number}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{total}, {free} free</source>
   <translation>{total}, {free} frei</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>{unit} predicted</source>
   <translation>{unit} vorhergesagt</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>{unit}, a guess</source>
   <translation>{unit}, geschätzt</translation>
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>{used} of {limit} tokens</source>
   <translation>{used} von {limit} Tokens</translation>
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>{used} of {limit} tokens of the model's context are in use</source>
   <translation>{used} von {limit} Tokens des Modellkontexts sind belegt</translation>
  </message>
  <message>
   <location filename="app/ui/settings/number_box.py" />
   <source>{value} is the least that can be set here.</source>
   <translation>{value} ist der kleinste Wert, der hier geht.</translation>
  </message>
  <message>
   <location filename="app/ui/settings/number_box.py" />
   <source>{value} is the most that can be set here.</source>
   <translation>{value} ist der größte Wert, der hier geht.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>{value} tokens</source>
   <translation>{value} Tokens</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>{value}, as the model's makers advise</source>
   <translation>{value}, wie die Hersteller des Modells empfehlen</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>{value}, the usual value</source>
   <translation>{value}, der übliche Wert</translation>
  </message>
  <message>
   <location filename="engine/kernels/library.py" />
   <source>{variable} names no instruction set of this architecture: {cap}.</source>
   <translation>{variable} nennt keinen Befehlssatz dieser Architektur: {cap}.</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>{weights}, draft {draft}</source>
   <translation>{weights}, Entwurf {draft}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>{weights}: reads {rate} of weights, {products} billion products/s</source>
   <translation>{weights}: liest {rate} Gewichte, {products} Milliarden Produkte/s</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>{what} Draft: {draft}</source>
   <translation>{what} Entwurf: {draft}</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>{where}, 8-bit cache (lossy)</source>
   <translation>{where}, 8-Bit-Cache (verlustbehaftet)</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>“{name}” was there already: its chats and these are together now.</source>
   <translation>„{name}“ gab es schon: seine Chats und diese sind jetzt zusammen.</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>“{title}” is in the trash for {days} days.</source>
   <translation>„{title}“ bleibt {days} Tage im Papierkorb.</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>“{title}” was not opened by itself, because Tenon ended while it was shown: open it from the list, or delete it.</source>
   <translation>„{title}“ wurde nicht von selbst geöffnet, weil Tenon beim Anzeigen abbrach: aus der Liste öffnen oder löschen.</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>“{user}” is sent to it as a user name: it is not the site.</source>
   <translation>„{user}“ wird als Benutzername mitgesendet: Das ist nicht die Adresse.</translation>
  </message>
 </context>
</TS>
