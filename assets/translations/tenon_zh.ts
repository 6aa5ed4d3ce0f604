<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh" sourcelanguage="en">
 <context>
  <name>Tenon</name>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>% by position</source>
   <translation>各位置 %</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/trash_dialog.py" />
   <source>%n backup(s) still have it, the oldest of {day}: importing one brings it back.</source>
   <translation>
    <numerusform>仍有 %n 个备份含有它，最早的是 {day}：导入备份会使其恢复。</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/figures.py" />
   <source>%n chapter(s)</source>
   <translation>
    <numerusform>%n 章</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/bridge/archive.py" />
   <source>%n chat(s) were imported.</source>
   <translation>
    <numerusform>已导入 %n 个对话。</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>%n core(s)</source>
   <translation>
    <numerusform>%n 个核心</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/trash_dialog.py" />
   <source>%n day(s) left</source>
   <translation>
    <numerusform>还剩 %n 天</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>%n draft(s)</source>
   <translation>
    <numerusform>%n 个草稿</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/transcript/code.py" />
   <source>%n hidden character(s)</source>
   <translation>
    <numerusform>%n 个隐藏字符</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/model_shelf.py" />
   <source>%n in the queue, {left} to come</source>
   <translation>
    <numerusform>队列中有 %n 个，还剩 {left}</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>%n layer(s)</source>
   <translation>
    <numerusform>%n 层</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/models_page.py" />
   <source>%n model(s)</source>
   <translation>
    <numerusform>%n 个模型</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/model_news.py" />
   <source>%n more in the queue</source>
   <translation>
    <numerusform>队列中还有 %n 个</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>%n of {all} core(s) usable</source>
   <translation>
    <numerusform>{all} 个核心中可用 %n 个</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/figures.py" />
   <source>%n page(s)</source>
   <translation>
    <numerusform>%n 页</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>%n token(s)</source>
   <translation>
    <numerusform>%n 个 token</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>0 is until the context is full. In Settings: {value}.</source>
   <translation>0 表示直到上下文写满。设置中为：{value}。</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>4-bit</source>
   <translation>4 位</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>8-bit (lossy)</source>
   <translation>8 位（有损）</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>8-bit where memory is short</source>
   <translation>内存不足时用 8 位</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>A bias of a token is {value}, but it must be between -100 and 100.</source>
   <translation>某个词元的偏置为 {value}，而它必须在 -100 到 100 之间。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A chat takes its first line as its title; the model can find a better one when its reply is done.</source>
   <translation>对话以第一行为标题；模型回复完后可以起一个更好的标题。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A copy of all chats each day, beside them on this computer.</source>
   <translation>每天在本机上为所有对话保存一份副本。</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>A damaged database that was kept aside may have it, too: it is deleted as a whole.</source>
   <translation>另外保留的损坏数据库也可能含有它：会将其整个删除。</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>A draft guesses tokens that the model then checks several at a time: the same text, sooner.</source>
   <translation>草稿猜测若干 token，模型一次检查多个：文本相同，速度更快。</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>A file</source>
   <translation>文件</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>A file cannot be read or written</source>
   <translation>无法读写文件</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>A file of the model is damaged</source>
   <translation>模型的一个文件已损坏</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>A file of {repo} is not on the hub any more: get it again at its present revision.</source>
   <translation>{repo} 的一个文件已不在 Hub 上：请重新获取其当前修订版本。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>A file with all that was changed, for another computer or to keep.</source>
   <translation>包含所有更改的文件，可用于另一台电脑或留存。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>A large model for computers with much memory that answers at the speed of a small one, without thinking first.</source>
   <translation>适合内存较大的电脑的大模型，回答速度像小模型一样快，不会先思考。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>A large model for computers with much memory: each token takes 8 of its 128 experts, so it answers at the speed of a small one.</source>
   <translation>适合内存较大的电脑的大模型：每个 token 只用 128 个专家中的 8 个，所以它的回答速度像小模型一样快。</translation>
  </message>
  <message>
   <location filename="app/chat/attachment.py" />
   <source>A message holds {most} files at most: send the others with the next one.</source>
   <translation>一条消息最多附 {most} 个文件：其余的请随下一条发送。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/json_file.py" />
   <source>A message in it has no content, or is nobody's.</source>
   <translation>其中有一条消息没有内容，或没有发送者。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A mirror of the hub to search and download from; empty takes the hub itself.</source>
   <translation>用于搜索和下载的 Hub 镜像；留空则使用 Hub 本身。</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>A mixture of experts: each token is computed with this part of its weights</source>
   <translation>混合专家模型：每个 token 只用这部分权重计算</translation>
  </message>
  <message>
   <location filename="engine/planning/forecast.py" />
   <source>A mode with a draft may be faster, and is taken once replies have shown what the draft is worth here: measure every mode, or choose one with a draft.</source>
   <translation>使用草稿的模式可能更快；在回复显示出草稿在本机的效果之后就会采用：请测量所有模式，或选择使用草稿的模式。</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>A model cannot be called {name}: give another one with --name.</source>
   <translation>模型不能命名为 {name}：请用 --name 指定其他名称。</translation>
  </message>
  <message>
   <location filename="engine/hub/offer.py" />
   <source>A model cannot be called {name}: use letters, digits, spaces and . _ + - alone.</source>
   <translation>模型不能命名为 {name}：只能使用字母、数字、空格和 . _ + - 这些字符。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>A model is being downloaded or imported: wait for it or stop it, and move the models then.</source>
   <translation>正在下载或导入一个模型：请等待其完成或将其停止，然后再移动模型。</translation>
  </message>
  <message>
   <location filename="engine/remote/asking.py" />
   <source>A model on a server gives no log-probabilities here: leave them out.</source>
   <translation>服务器上的模型在这里不提供对数概率：请不要请求它们。</translation>
  </message>
  <message>
   <location filename="engine/remote/asking.py" />
   <source>A model on a server writes no reply by a grammar here: give a JSON schema instead.</source>
   <translation>服务器上的模型在这里不能按语法生成回复：请改用 JSON 模式。</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>A model that continues texts</source>
   <translation>续写文本的模型</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A model that was not used for so long leaves the memory; the next message loads it again.</source>
   <translation>模型闲置这么久后会离开内存；下一条消息会重新加载它。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>A move to {target} is not finished: finish it first.</source>
   <translation>移动到 {target} 的操作尚未完成：请先完成它。</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>A quantization is asked for, and safetensors have none: leave one of them out.</source>
   <translation>指定了量化，而 safetensors 没有量化可选：请去掉其中之一。</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>A question for both modes</source>
   <translation>给两种模式的问题</translation>
  </message>
  <message>
   <location filename="app/ui/done_notice.py" />
   <source>A reply could not be completed.</source>
   <translation>有一条回复未能完成。</translation>
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>A reply is being written: compare the modes when it is done, or stop it first.</source>
   <translation>正在写回复：请等它完成后再比较，或先停止它。</translation>
  </message>
  <message>
   <location filename="app/ui/done_notice.py" />
   <source>A reply is done.</source>
   <translation>有一条回复已完成。</translation>
  </message>
  <message>
   <location filename="app/bridge/machine.py" />
   <source>A reply is running: measure when it is complete, or stop the reply first.</source>
   <translation>正在生成回复：请等它完成后再测量，或先停止它。</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>A reply that has a form or log-probabilities is verified by {rule} alone: leave the rule out.</source>
   <translation>有格式要求或需要对数概率的回复只能用 {rule} 验证：请去掉该规则。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>A server that searches and downloads go through; empty takes the system's.</source>
   <translation>搜索和下载经过的服务器；留空则使用系统设置。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>A setting does not work here</source>
   <translation>有一项设置在此无效</translation>
  </message>
  <message>
   <location filename="engine/modes/dovetail.py" />
   <source>A small draft guesses several tokens ahead, and the model checks them all at once.</source>
   <translation>一个小草稿向前猜测多个 token，模型一次全部检查。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>A small model drafts with prompt tokens that lie beside it, and so in fewer steps.</source>
   <translation>小模型使用与它放在一起的提示词元来起草，因此步数更少。</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>A small model that guesses for this one, fetched along</source>
   <translation>一并获取为它猜测的小模型</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>A system prompt of its own</source>
   <translation>单独的系统提示词</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>A token is kept already; paste another one to replace it</source>
   <translation>已保存一个令牌；粘贴新的即可替换</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>A value in config.json is missing or of the wrong kind; correct it, or choose another model.</source>
   <translation>config.json 中有一个值缺失或类型不对；请更正它，或选择另一个模型。</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>A value in the GGUF file's metadata is missing or of the wrong kind; choose another file of this model.</source>
   <translation>GGUF 文件的元数据中有一个值缺失或类型不对；请选择此模型的另一个文件。</translation>
  </message>
  <message>
   <location filename="engine/drafting/config_keys.py" />
   <source>A value in the draft's config.json is missing or of the wrong kind ({problem}); correct it, or choose another draft.</source>
   <translation>草稿的 config.json 中有一个值缺失或类型不对（{problem}）；请更正它，或选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/unpacking.py" />
   <source>A wheel wants to write to {name}, which is outside of its folder: it is not used.</source>
   <translation>有 wheel 文件要写入 {name}，而它在所属文件夹之外：不会使用该 wheel 文件。</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>About Tenon</source>
   <translation>关于 Tenon</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>About as fast as you read</source>
   <translation>与阅读速度相当</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>About {room} of memory for models, the rest for other programs.</source>
   <translation>约 {room} 内存可用于模型，其余留给其他程序。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>About {room} of memory for models, the rest for other programs; and a GPU.</source>
   <translation>约 {room} 内存可用于模型，其余留给其他程序；并有 GPU。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted</source>
   <translation>已接受</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Accepted guesses</source>
   <translation>被接受的猜测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted: nothing was drafted</source>
   <translation>已接受：没有草稿</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Accepted: {shares}</source>
   <translation>已接受：{shares}</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Access token</source>
   <translation>访问令牌</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Access token, starts with hf_</source>
   <translation>访问令牌，以 hf_ 开头</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Adaptive fallback</source>
   <translation>自适应回退</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Add</source>
   <translation>添加</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Add a GGUF file</source>
   <translation>添加 GGUF 文件</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Add a file</source>
   <translation>添加文件</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Add a folder of models</source>
   <translation>添加模型文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Add a folder...</source>
   <translation>添加文件夹...</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>Add a model's file</source>
   <translation>添加模型文件</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>Add a model's folder</source>
   <translation>添加模型文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Add a server</source>
   <translation>添加服务器</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Add a server...</source>
   <translation>添加服务器…</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Add from a folder</source>
   <translation>从文件夹添加</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Add {name}</source>
   <translation>添加 {name}</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Added</source>
   <translation>已添加</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Address</source>
   <translation>地址</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Advanced</source>
   <translation>高级</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/dialog.py" />
   <source>After the %n message(s) before it in the chat.</source>
   <translation>
    <numerusform>接在对话中之前的 %n 条消息之后。</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>All articles</source>
   <translation>所有文章</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>All chats</source>
   <translation>所有对话</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>All chats with their attachments, what is typed and not sent, folders, presets, the system prompt, the search index and every backup are erased from this computer. This cannot be undone.</source>
   <translation>所有对话及其附件、已输入未发送的内容、文件夹、预设、系统提示词、搜索索引和全部备份都将从本机清除，且无法撤销。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>All chats, presets and backups on this computer, for good. Asked for once more.</source>
   <translation>永久清除本机上的所有对话、预设和备份。会再确认一次。</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>All commands</source>
   <translation>所有命令</translation>
  </message>
  <message>
   <location filename="app/ui/attaching.py" />
   <source>All files</source>
   <translation>所有文件</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>All help</source>
   <translation>全部帮助</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>All models</source>
   <translation>所有模型</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>All that fit</source>
   <translation>能放下的全部</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>All words of the window.</source>
   <translation>窗口中的所有文字。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Always</source>
   <translation>始终</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Another import is under way: wait for it, and try again.</source>
   <translation>正在进行另一项导入：请等它完成后重试。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Another name for the preset</source>
   <translation>预设的新名称</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>Another program is using the chats in {folder}: close it and send again.</source>
   <translation>另一个程序正在使用 {folder} 中的对话：请关闭它再发送。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Another program keeps many connections open without a request: the oldest of them are closed.</source>
   <translation>另一个程序保持着许多没有请求的连接：其中最早的会被关闭。</translation>
  </message>
  <message>
   <location filename="engine/hub/kept_list.py" />
   <source>Another window or command of Tenon changes models or lists just now: try again.</source>
   <translation>Tenon 的另一个窗口或命令正在更改模型或列表：请重试。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installation.py" />
   <source>Another window or command of Tenon is fetching GPU support: wait for it.</source>
   <translation>Tenon 的另一个窗口或命令正在获取 GPU 支持：请等它完成。</translation>
  </message>
  <message>
   <location filename="engine/hub/download/download.py" />
   <source>Another window or command of Tenon is fetching {name} already: wait for it, or pause it.</source>
   <translation>Tenon 的另一个窗口或命令已在获取 {name}：请等它完成，或将其暂停。</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Answer again</source>
   <translation>重新回答</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Answer without the draft</source>
   <translation>不用草稿回答</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Appearance</source>
   <translation>外观</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Apply</source>
   <translation>应用</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Apply changes</source>
   <translation>应用更改</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Archive</source>
   <translation>归档</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Archive chat</source>
   <translation>归档对话</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Archived</source>
   <translation>已归档</translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>Articles about {words}</source>
   <translation>关于 {words} 的文章</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>As in Settings</source>
   <translation>与设置相同</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>As many as pay</source>
   <translation>按收益决定</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>As many layers as fit run on the GPU, the rest in memory.</source>
   <translation>能放下的层在 GPU 上运行，其余在内存中。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>As the system</source>
   <translation>跟随系统</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Ask a follow-up</source>
   <translation>继续提问</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Ask anything</source>
   <translation>问点什么</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Asking how large it is...</source>
   <translation>正在查询大小...</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Asking...</source>
   <translation>正在查询...</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Asks once a day whether there is a newer Tenon; nothing else is sent along.</source>
   <translation>每天询问一次是否有新版 Tenon；不会发送其他任何内容。</translation>
  </message>
  <message>
   <location filename="app/bridge/replies.py" />
   <source>At temperature 0 every answer is the same: set a higher one for another answer.</source>
   <translation>温度为 0 时每次回答都相同：想要不同的回答，请调高温度。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>At {address} is no server of models that speaks OpenAI's protocol: check the address, its port, and a sign-in page or proxy between.</source>
   <translation>{address} 处没有使用 OpenAI 协议的模型服务器：请检查地址、端口，以及中间的登录页面或代理。</translation>
  </message>
  <message>
   <location filename="app/ui/attaching.py" />
   <source>Attach files</source>
   <translation>附加文件</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Attach files...</source>
   <translation>附加文件...</translation>
  </message>
  <message>
   <location filename="app/ui/file_drops.py" />
   <source>Attach to your message</source>
   <translation>附加到消息</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/bubble.py" />
   <source>Attached file {name}</source>
   <translation>附件 {name}</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>Auto</source>
   <translation>自动</translation>
  </message>
  <message>
   <location filename="engine/modes/dovetail.py" />
   <source>Auto: a draft is given, so dovetail guesses with it.</source>
   <translation>自动：已指定草稿，因此 Dovetail 用它猜测。</translation>
  </message>
  <message>
   <location filename="engine/modes/lookup.py" />
   <source>Auto: lookup needs no second model, and drafts only while that is faster than plain.</source>
   <translation>自动：查找不需要第二个模型，且仅在比普通更快时才打草稿。</translation>
  </message>
  <message>
   <location filename="engine/planning/mode_plan.py" />
   <source>Auto: plain, predicted at {speed}; no other mode is predicted to be faster here.</source>
   <translation>自动：普通，预测 {speed}；据预测，本机上没有更快的模式。</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Auto: several drafts are given, so minions lets them vote.</source>
   <translation>自动：给出了多个草稿，因此由 Minions 让它们投票。</translation>
  </message>
  <message>
   <location filename="engine/planning/mode_plan.py" />
   <source>Auto: {mode}, predicted at {speed} ({summary}).</source>
   <translation>自动：{mode}，预测 {speed}（{summary}）。</translation>
  </message>
  <message>
   <location filename="engine/planning/mode_plan.py" />
   <source>Auto: {mode}, predicted at {speed}, {times} ({summary}).</source>
   <translation>自动：{mode}，预测 {speed}，{times}（{summary}）。</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Automatic</source>
   <translation>自动</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>Automatic is {value}, as the model's makers advise.</source>
   <translation>自动值为 {value}，即模型作者的建议值。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>Automatic is {value}, because the temperature is 0.</source>
   <translation>自动值为 {value}，因为温度为 0。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>Automatic is {value}, the usual value.</source>
   <translation>自动值为 {value}，即默认值。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Back to the usual</source>
   <translation>恢复默认</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Back to the usual: {value}</source>
   <translation>恢复默认：{value}</translation>
  </message>
  <message>
   <location filename="app/chat/recommendation.py" />
   <source>Balanced</source>
   <translation>均衡</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Base model</source>
   <translation>基础模型</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Base model: it was not made for chats, and only continues texts</source>
   <translation>基础模型：不是为聊天而做，只会续写文本</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Begin a new line</source>
   <translation>换行</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Begin a text</source>
   <translation>写下文本的开头</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Being added</source>
   <translation>正在添加</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Best mode</source>
   <translation>最佳模式</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Better models for this computer</source>
   <translation>更适合本机的模型</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Both wrote equally fast</source>
   <translation>两者写得一样快</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Branching drafts</source>
   <translation>分支草稿</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Bring back</source>
   <translation>恢复</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Bring back the chat deleted last</source>
   <translation>恢复最近删除的对话</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Built in</source>
   <translation>内置</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Built in: very small, quick, often wrong</source>
   <translation>内置：很小、很快，常出错</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Can draft for {models}</source>
   <translation>可为 {models} 打草稿</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Cancel</source>
   <translation>取消</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Cancel import</source>
   <translation>取消导入</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Cannot run</source>
   <translation>无法运行</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Careful answers and long texts in many languages.</source>
   <translation>多种语言的细致回答和长文本。</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Change the server...</source>
   <translation>更改服务器…</translation>
  </message>
  <message>
   <location filename="app/ui/settings/foot.py" />
   <source>Changes to apply: {count}.</source>
   <translation>待应用的更改：{count}。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Chat</source>
   <translation>对话</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Chat models</source>
   <translation>对话模型</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Chat settings</source>
   <translation>对话设置</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/opening.py" />
   <source>Chat settings...</source>
   <translation>对话设置...</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Chat with it</source>
   <translation>与它对话</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Chat with {title}</source>
   <translation>与 {title} 对话</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chats</source>
   <translation>对话</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chats and backups</source>
   <translation>对话和备份</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Chats and backups (*.json *.sqlite3);;All files (*)</source>
   <translation>对话和备份 (*.json *.sqlite3);;所有文件 (*)</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Chats exported as JSON, conversations.json of ChatGPT's data export, or a backup of Tenon's</source>
   <translation>以 JSON 导出的对话、ChatGPT 数据导出中的 conversations.json，或 Tenon 的备份</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Chats with it stay as they are.</source>
   <translation>与它的对话保持不变。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Check for updates</source>
   <translation>检查更新</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Check its files</source>
   <translation>检查文件</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Check the merged tree</source>
   <translation>检验合并的树</translation>
  </message>
  <message>
   <location filename="app/ui/model_menus.py" />
   <source>Choose a draft's folder</source>
   <translation>选择草稿模型文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Choose a folder...</source>
   <translation>选择文件夹...</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Choose a mode</source>
   <translation>选择模式</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Choose a model</source>
   <translation>选择模型</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Choose a port from 1 to 65535.</source>
   <translation>请选择 1 到 65535 之间的端口。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Choose another file</source>
   <translation>选择其他文件</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Choose another model</source>
   <translation>选择其他模型</translation>
  </message>
  <message>
   <location filename="app/ui/composer/mode_button.py" />
   <source>Choose how replies are generated</source>
   <translation>选择回复的生成方式</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Chooses among the likeliest tokens that together are this probable; 1 takes all.</source>
   <translation>在累计概率达到此值的最可能 token 中选择；1 表示全部。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Chooses among this many of the likeliest tokens; 0 takes all.</source>
   <translation>在这么多个最可能的 token 中选择；0 表示全部。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Chooses the usual value of everything; Apply takes it over.</source>
   <translation>全部选回默认值；点“应用”后生效。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/page_view.py" />
   <source>Chosen</source>
   <translation>已选</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Chosen for</source>
   <translation>适用于</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Close</source>
   <translation>关闭</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Close Tenon</source>
   <translation>退出 Tenon</translation>
  </message>
  <message>
   <location filename="app/ui/toast.py" />
   <source>Close notice</source>
   <translation>关闭提示</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/head.py" />
   <source>Close the inspector</source>
   <translation>关闭检查器</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/head.py" />
   <source>Close the inspector (F12)</source>
   <translation>关闭检查器 (F12)</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Close the search</source>
   <translation>关闭搜索</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Close without saving</source>
   <translation>不保存并关闭</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Code</source>
   <translation>代码</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Colours of the window.</source>
   <translation>窗口的颜色。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Colours the words of finished replies that a draft guessed and the model accepted.</source>
   <translation>在完成的回复中，为草稿猜中且被模型接受的词着色。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Comfortable</source>
   <translation>宽松</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Commands</source>
   <translation>命令</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Compact</source>
   <translation>紧凑</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Compare</source>
   <translation>比较</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Compare modes on this prompt...</source>
   <translation>用此提示词比较模式...</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Compare two modes</source>
   <translation>比较两种模式</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/opening.py" />
   <source>Compare two modes...</source>
   <translation>比较两种模式...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Computes with {name}</source>
   <translation>使用 {name} 计算</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Connections</source>
   <translation>连接</translation>
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>Context in use</source>
   <translation>已用上下文</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Context length</source>
   <translation>上下文长度</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Context to plan</source>
   <translation>方案的上下文</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Continue</source>
   <translation>继续</translation>
  </message>
  <message>
   <location filename="app/ui/continue_line.py" />
   <source>Continue a text</source>
   <translation>续写文本</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Continue the reply</source>
   <translation>继续回复</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Copied</source>
   <translation>已复制</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Copies what this page shows</source>
   <translation>复制本页内容</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy</source>
   <translation>复制</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Copy as plain text</source>
   <translation>复制为纯文本</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Copy as text</source>
   <translation>复制为文本</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/code.py" />
   <source>Copy code</source>
   <translation>复制代码</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy code block</source>
   <translation>复制代码块</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/details_foot.py" />
   <source>Copy details</source>
   <translation>复制详情</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Copy details of this installation</source>
   <translation>复制本安装的详情</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy it now: from the next start on it is not shown any more, but can be copied.</source>
   <translation>请现在复制：下次启动后不再显示，但仍可复制。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Copy message</source>
   <translation>复制消息</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy reply</source>
   <translation>复制回复</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Copy reply as plain text</source>
   <translation>将回复复制为纯文本</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/table.py" />
   <source>Copy table</source>
   <translation>复制表格</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy the address</source>
   <translation>复制地址</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy the key</source>
   <translation>复制密钥</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Copy the settings for {program}</source>
   <translation>复制 {program} 的设置</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Copy them, {size}</source>
   <translation>复制，{size}</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Copy what is selected</source>
   <translation>复制所选内容</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Correct the context length</source>
   <translation>更正上下文长度</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Daily backup</source>
   <translation>每日备份</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>Damaged chat</source>
   <translation>已损坏的对话</translation>
  </message>
  <message>
   <location filename="app/storage/conversation_store.py" />
   <source>Damaged chat: restart Tenon</source>
   <translation>对话已损坏：请重新启动 Tenon</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Dark</source>
   <translation>深色</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Dark theme</source>
   <translation>深色主题</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete</source>
   <translation>删除</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete chat</source>
   <translation>删除对话</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Delete folder, keep its chats</source>
   <translation>删除文件夹，保留对话</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Delete message</source>
   <translation>删除消息</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Delete reply</source>
   <translation>删除回复</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Delete the chat, or a folder without its chats</source>
   <translation>删除对话，或删除文件夹但保留对话</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Delete “{name}”</source>
   <translation>删除“{name}”</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Delete “{title}”?</source>
   <translation>删除“{title}”？</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Deleted chats</source>
   <translation>已删除的对话</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Deleted chats stay here for {days} days, then they are erased. Backups of the days before still have them until newer ones take their place.</source>
   <translation>已删除的对话在此保留 {days} 天，之后永久清除。之前几天的备份仍含有它们，直到被更新的备份取代。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Depth of drafts</source>
   <translation>草稿深度</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Discard changes</source>
   <translation>放弃更改</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Disk</source>
   <translation>磁盘</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Disk in memory</source>
   <translation>内存盘</translation>
  </message>
  <message>
   <location filename="app/ui/attaching.py" />
   <source>Documents and text</source>
   <translation>文档和文本</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Done</source>
   <translation>完成</translation>
  </message>
  <message>
   <location filename="engine/modes/dovetail.py" />
   <source>Dovetail was chosen: a draft guesses several tokens ahead, and the model checks them in one pass.</source>
   <translation>已选择 Dovetail：草稿向前猜测多个 token，模型在一遍中检查它们。</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Download</source>
   <translation>下载</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Download it at {address} and install it over this one.</source>
   <translation>请从 {address} 下载，并覆盖安装当前版本。</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Download {size}</source>
   <translation>下载 {size}</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Download {title}</source>
   <translation>下载 {title}</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/download_line.py" />
   <source>Downloading {name}, {share}</source>
   <translation>正在下载 {name}，{share}</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Downloading, {share}</source>
   <translation>正在下载，{share}</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Downloads</source>
   <translation>下载</translation>
  </message>
  <message>
   <location filename="app/bridge/models/store.py" />
   <source>Downloads are under way: pause them, or wait for them.</source>
   <translation>正在下载：请暂停下载，或等它们完成。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Draft</source>
   <translation>草稿</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Draft ahead</source>
   <translation>提前打草稿</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Draft below the threshold</source>
   <translation>低于阈值仍打草稿</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Draft head</source>
   <translation>草稿头</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Draft paired, {size}</source>
   <translation>已配草稿，{size}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Draft tree</source>
   <translation>草稿树</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>Draft tree: {steps}</source>
   <translation>草稿树：{steps}</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Draft...</source>
   <translation>草稿...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Draft: {name}.</source>
   <translation>草稿：{name}。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Drafts</source>
   <translation>草稿</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Drafts are judged by the text that comes, whether or not their guesses were checked. Weights are relative: the largest is always 1, so one falls when another is rewarded. They only decide between guesses that are equally likely; without "{option}" they are the votes.</source>
   <translation>草稿按实际生成的文本来评判，无论其猜测是否经过检验。权重是相对的：最大者始终为 1，因此一个草稿得到奖励时，其他草稿的权重会下降。权重只在可能性相同的猜测之间起决定作用；关闭“{option}”时，权重就是选票。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>Drafts of several replies are made between the model's passes and not beside them: the pipeline is off, because drafts and model compute on one device ({device}).</source>
   <translation>多个回复的草稿在模型的各次前向之间生成，而不是同时生成：流水线已关闭，因为草稿和模型在同一设备（{device}）上计算。</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>Each layer is copied to the GPU when its turn comes.</source>
   <translation>每一层轮到时才复制到 GPU。</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Edit message</source>
   <translation>编辑消息</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Editors, agents and scripts of this computer can ask the model that is loaded here, by the protocols of OpenAI, Anthropic and Ollama. Your own messages go first. Web pages and other computers are not let in, and no word of a request is logged.</source>
   <translation>本机的编辑器、智能体和脚本可以通过 OpenAI、Anthropic 和 Ollama 的协议向这里加载的模型提问。您自己的消息优先。网页和其他计算机不能访问，请求的内容不会被记录。</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/erase_dialog.py" />
   <source>Erase %n chat(s) for good?</source>
   <translation>
    <numerusform>永久清除 %n 个对话？</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Erase everything</source>
   <translation>全部清除</translation>
  </message>
  <message>
   <location filename="app/ui/erasing.py" />
   <source>Erase everything...</source>
   <translation>全部清除...</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Erase for good</source>
   <translation>永久清除</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Erase for good...</source>
   <translation>永久清除...</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Erase it there, too</source>
   <translation>也在那里清除</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Erase “{title}” for good?</source>
   <translation>永久清除“{title}”？</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Erase...</source>
   <translation>清除...</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Error: {sentence}</source>
   <translation>错误：{sentence}</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>Every chat of {name} is here already.</source>
   <translation>{name} 中的对话都已存在。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Every figure is assumed: the speeds of this machine were never measured.</source>
   <translation>所有数字均为假设：从未测量过本机速度。</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>Every layer fits on the GPU, so that none would have to be copied there.</source>
   <translation>所有层都能放在 GPU 上，因此没有需要复制过去的层。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions and reasoning in six languages.</source>
   <translation>六种语言的日常问题和推理。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions and short texts in English.</source>
   <translation>英语的日常问题和短文本。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions and short texts in many languages.</source>
   <translation>多种语言的日常问题和短文本。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions and tool calls on weak computers.</source>
   <translation>在配置较低的电脑上处理日常问题和工具调用。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions in many languages on small computers; much of it stays on the disk.</source>
   <translation>在小型电脑上用多种语言处理日常问题；其大部分内容留在磁盘上。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions, letters and summaries of long texts.</source>
   <translation>日常问题、书信和长文本摘要。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Everyday questions; thinks before it answers, if asked to.</source>
   <translation>日常问题；可按要求先思考再回答。</translation>
  </message>
  <message>
   <location filename="app/ui/erasing.py" />
   <source>Everything is erased.</source>
   <translation>已全部清除。</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Everywhere</source>
   <translation>任何位置</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Except by the built-in model</source>
   <translation>内置模型除外</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a list, not {value}.</source>
   <translation>应为列表，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a number from {least} to {most}, not {value}.</source>
   <translation>应为 {least} 到 {most} 之间的数，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a number from {least} to {most}, or nothing, not {value}.</source>
   <translation>应为 {least} 到 {most} 之间的数或留空，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a whole number from {least} to {most}, not {value}.</source>
   <translation>应为 {least} 到 {most} 之间的整数，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected a whole number from {least} to {most}, or nothing, not {value}.</source>
   <translation>应为 {least} 到 {most} 之间的整数或留空，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected one of {names}, not {value}.</source>
   <translation>应为 {names} 之一，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected text, not {value}.</source>
   <translation>应为文本，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected texts by name, not {value}.</source>
   <translation>应为按名称列出的文本，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected true or false, not {value}.</source>
   <translation>应为 true 或 false，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Expected values by name, not {value}.</source>
   <translation>应为按名称列出的值，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Explain how a hash table works</source>
   <translation>解释哈希表的工作原理</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Export all chats</source>
   <translation>导出所有对话</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Export all chats...</source>
   <translation>导出所有对话...</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Export chat</source>
   <translation>导出对话</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Export chat...</source>
   <translation>导出对话...</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Export settings</source>
   <translation>导出设置</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Export...</source>
   <translation>导出...</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>Fallback threshold</source>
   <translation>回退阈值</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Faster than you read</source>
   <translation>比阅读速度快</translation>
  </message>
  <message>
   <location filename="app/chat/recommendation.py" />
   <source>Fastest</source>
   <translation>最快</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetch {size}</source>
   <translation>获取 {size}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching GPU support</source>
   <translation>正在获取 GPU 支持</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching, {done} of {total}</source>
   <translation>正在获取，{done} / {total}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Fetching...</source>
   <translation>正在获取...</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Files of several folders cannot be used in place: add --copy.</source>
   <translation>来自多个文件夹的文件无法原位使用：请加上 --copy。</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Find in this chat</source>
   <translation>在此对话中查找</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>First mode</source>
   <translation>第一种模式</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>First token</source>
   <translation>首个 token</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>First token after {time}</source>
   <translation>{time} 后首个 token</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>First token: after a prompt of {tokens} tokens.</source>
   <translation>首个 token：在 {tokens} 个 token 的提示词之后。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Fit</source>
   <translation>容纳</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Fits</source>
   <translation>放得下</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Fits easily</source>
   <translation>轻松放下</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Fits in memory</source>
   <translation>内存放得下</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Fluent letters, stories and everyday questions.</source>
   <translation>流畅的书信、故事和日常问题。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Fluent writing and careful answers in shorter chats.</source>
   <translation>较短对话中的流畅写作和细致回答。</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Fold</source>
   <translation>折叠</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Fold a folder, or unfold it</source>
   <translation>折叠或展开文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Folders of models</source>
   <translation>模型文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Folders...</source>
   <translation>文件夹...</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>For all models</source>
   <translation>所有模型</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>For computers with 24 GB: 4 of its 25 billion weights work on each token, so it answers at the speed of a small model.</source>
   <translation>适合 24 GB 内存的电脑：每个 token 只用到 250 亿权重中的 40 亿，因此回答速度和小模型一样。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>For computers with 8 GB: each token takes 4 of its 32 experts, so it answers at the speed of a 1.7 billion model.</source>
   <translation>适合 8 GB 内存的电脑：每个 token 使用 32 个专家中的 4 个，因此回答速度相当于 17 亿参数的模型。</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>For models larger than memory: a draft writes, the model is read from the disk to check.</source>
   <translation>适用于大于内存的模型：草稿书写，模型从磁盘读取来检查。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>For models that are read from the disk: what the draft expects next, in grey.</source>
   <translation>对从磁盘读取的模型：以灰色显示草稿预期的后文。</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>For models that are read from the disk: what the draft expects, in grey</source>
   <translation>对从磁盘读取的模型：以灰色显示草稿预期的内容</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>For models that ask for an account; it is kept in the system's keyring.</source>
   <translation>用于需要账号的模型；保存在系统钥匙串中。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>For the new chat alone. What is left open is as in Settings.</source>
   <translation>仅适用于新对话。留空的项与设置相同。</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>For this machine</source>
   <translation>适合本机</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>For {model}</source>
   <translation>用于 {model}</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>For “{title}” alone. What is left open is as in Settings.</source>
   <translation>仅适用于“{title}”。留空的项与设置相同。</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Forget</source>
   <translation>移除</translation>
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>Forget token</source>
   <translation>忘记令牌</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Forget {server}...</source>
   <translation>移除 {server}…</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Forget {server}?</source>
   <translation>移除 {server}？</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/formula_block.py" />
   <source>Formula</source>
   <translation>公式</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Free the memory when idle</source>
   <translation>空闲时释放内存</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>From</source>
   <translation>来自</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>From disk</source>
   <translation>从磁盘</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/model_change.py" />
   <source>From here on: {model}</source>
   <translation>从这里起：{model}</translation>
  </message>
  <message>
   <location filename="engine/text/attached_turns.py" />
   <source>From {places}.</source>
   <translation>来自 {places}。</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>From {repo}</source>
   <translation>来自 {repo}</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Full precision</source>
   <translation>全精度</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>GB over the reply</source>
   <translation>回复期间的 GB</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>GPU memory budget</source>
   <translation>GPU 显存预算</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>GPU support</source>
   <translation>GPU 支持</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/status.py" />
   <source>GPU support ({title}) is installed and works with {seen}.</source>
   <translation>GPU 支持（{title}）已安装，可与 {seen} 配合使用。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because another torch is imported in its place: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为实际导入的是另一个 torch：请检查 GPU 的驱动程序，或用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because it cannot be checked ({reason}): check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为无法对其进行检查（{reason}）：请检查 GPU 的驱动程序，或用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because its torch cannot be imported ({reason}): check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为无法导入其 torch（{reason}）：请检查 GPU 的驱动程序，或用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because its torch did not answer in {seconds} s: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为其 torch 在 {seconds} 秒内没有应答：请检查 GPU 的驱动程序，或用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because its torch ended the process with code {code}: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为其 torch 使进程以代码 {code} 结束：请检查 GPU 的驱动程序，或用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because its torch sees no GPU: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为其 torch 找不到 GPU：请检查 GPU 的驱动程序，或用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because the GPU cannot compute with it ({reason}): check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为 GPU 无法用它计算（{reason}）：请检查 GPU 的驱动程序，或用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because the GPU computes wrong results with it: check the GPU's driver, or fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为 GPU 用它计算的结果有误：请检查 GPU 的驱动程序，或用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/check.py" />
   <source>GPU support ({title}) is switched off, because {name} in its folder is not as it was installed: fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）已关闭，因为其文件夹中的 {name} 与安装时不一致：请用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installed_addon.py" />
   <source>GPU support ({title}) was fetched for another version of Tenon, so it is switched off: fetch it again with `tenon gpu install`.</source>
   <translation>GPU 支持（{title}）是为 Tenon 的另一版本获取的，因此已关闭：请用 `tenon gpu install` 重新获取。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>GPU support cannot be used</source>
   <translation>无法使用 GPU 支持</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>GPU support for {name} is {title}.</source>
   <translation>适用于 {name} 的 GPU 支持为 {title}。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>GPU support for {name} with driver {driver} is {title}.</source>
   <translation>适用于 {name}（驱动程序版本 {driver}）的 GPU 支持为 {title}。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installed_addon.py" />
   <source>GPU support in {folder} cannot be removed while it is in use: close every window of Tenon first.</source>
   <translation>{folder} 中的 GPU 支持正在使用，无法移除：请先关闭 Tenon 的所有窗口。</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Gemma 3 (text part)</source>
   <translation>Gemma 3（文本部分）</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Gemma 4 (text part)</source>
   <translation>Gemma 4（文本部分）</translation>
  </message>
  <message>
   <location filename="engine/modes/plain.py" />
   <source>Generates one token after the other.</source>
   <translation>逐个生成 token。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Get</source>
   <translation>获取</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Get a better one</source>
   <translation>获取更好的模型</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Get a model</source>
   <translation>获取模型</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Get a model below, or open one that you have.</source>
   <translation>在下方获取模型，或打开已有的模型。</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Get its draft {title}</source>
   <translation>获取它的草稿 {title}</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Get more models...</source>
   <translation>获取更多模型...</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Get {title}</source>
   <translation>获取 {title}</translation>
  </message>
  <message>
   <location filename="engine/modes/ghidorah.py" />
   <source>Ghidorah was chosen: Medusa heads guess several tokens in one step, and the model checks a tree of them in one pass.</source>
   <translation>已选择 Ghidorah：Medusa 头在一步中猜测多个 token，模型在一遍中检查由它们组成的树。</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Give one folder, or files alone.</source>
   <translation>请指定一个文件夹，或只指定文件。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Give up</source>
   <translation>放弃</translation>
  </message>
  <message>
   <location filename="app/ui/models/download_list.py" />
   <source>Give up {name}</source>
   <translation>放弃 {name}</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Give up {name}?</source>
   <translation>放弃 {name}？</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Go on editing</source>
   <translation>继续编辑</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Go on moving</source>
   <translation>继续移动</translation>
  </message>
  <message>
   <location filename="app/ui/models/download_list.py" />
   <source>Go on with {name}</source>
   <translation>继续 {name}</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Go to the beginning</source>
   <translation>转到开头</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Go to the end</source>
   <translation>转到末尾</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Go to the next field or button</source>
   <translation>转到下一个字段或按钮</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Go to the one before</source>
   <translation>转到上一个</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Good answers in many languages on a laptop; much of it stays on the disk.</source>
   <translation>在笔记本电脑上用多种语言给出不错的回答；其大部分内容留在磁盘上。</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Granite with experts</source>
   <translation>Granite（混合专家）</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Graphics</source>
   <translation>显卡</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Guesses of prompt tokens and Medusa heads are joined by what followed the same words in the text.</source>
   <translation>在提示词元和 Medusa 头的猜测之外，再加上文本中相同词语之后出现过的内容。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Guesses that held</source>
   <translation>被接受的猜测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Guesses that held, of all users</source>
   <translation>被接受的猜测（所有用户）</translation>
  </message>
  <message>
   <location filename="engine/modes/lookup.py" />
   <source>Guesses the next tokens from the text so far, checks several at once.</source>
   <translation>根据已有文本猜测后面的 token，一次检查多个。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Guessing rested in this reply, because it would not have paid here.</source>
   <translation>本次回复没有猜测，因为在这里猜测并不划算。</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>HF_HUB_OFFLINE is set, so the hub is not asked: unset it to search and download.</source>
   <translation>已设置 HF_HUB_OFFLINE，因此不会访问 Hub：要搜索和下载，请取消该设置。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Hard disk</source>
   <translation>机械硬盘</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Hard questions and long texts; slow, from the disk on most machines.</source>
   <translation>难题和长文本；较慢，在多数电脑上需从磁盘读取。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Hard questions, code and long texts.</source>
   <translation>难题、代码和长文本。</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Has a draft</source>
   <translation>有草稿</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Heads</source>
   <translation>草稿头</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Help</source>
   <translation>帮助</translation>
  </message>
  <message>
   <location filename="app/ui/help/help_line.py" />
   <source>Help has an answer: {title}</source>
   <translation>帮助中有答案：{title}</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Hide the thoughts</source>
   <translation>隐藏思考</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>High</source>
   <translation>高</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>How drafts grow</source>
   <translation>草稿如何生长</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How freely words are chosen: 0 always takes the likeliest.</source>
   <translation>选词的自由度：0 总取最可能的词。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>How freely words are chosen: 0 takes the likeliest each time. In Settings: {value}.</source>
   <translation>选词的自由度：0 每次取最可能的词。设置中为：{value}。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>How many branches of a draft grow at each step.</source>
   <translation>草稿每一步生长多少分支。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>How many guessed tokens the model checks at once.</source>
   <translation>模型一次检查多少个猜测的 token。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How many of the processor's cores compute.</source>
   <translation>使用处理器的多少个核心计算。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>How many tokens ahead a draft goes.</source>
   <translation>草稿超前多少个 token。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>How many tokens are guessed: as many as pay, by Minions' selector, or always the same number.</source>
   <translation>一次猜测多少个 token：按收益决定、由 Minions 的选择器决定，或始终为同一数目。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How much of the chat the model remembers, in tokens.</source>
   <translation>模型记住多少对话内容，以 token 计。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>How often a guessed token held where the tokens before it did</source>
   <translation>在前面的 token 都成立时，猜测的 token 成立的频率</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>How replies are generated.</source>
   <translation>回复的生成方式。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>How replies are generated. In Settings: {value}.</source>
   <translation>回复的生成方式。设置中为：{value}。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>How words are chosen</source>
   <translation>如何选词</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>I have a model file</source>
   <translation>我有模型文件</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Import chats</source>
   <translation>导入对话</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Import chats...</source>
   <translation>导入对话...</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Import settings</source>
   <translation>导入设置</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Import...</source>
   <translation>导入...</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>In memory</source>
   <translation>内存</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>In messages</source>
   <translation>在消息中</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>In the list of chats</source>
   <translation>在对话列表中</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>In the messages</source>
   <translation>在消息中</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>In use</source>
   <translation>使用中</translation>
  </message>
  <message>
   <location filename="app/ui/settings/page_view.py" />
   <source>In use now</source>
   <translation>当前使用</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>In use now: {value}</source>
   <translation>当前使用：{value}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/head.py" />
   <source>Inspector</source>
   <translation>检查器</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Installed</source>
   <translation>已安装</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Interrupted</source>
   <translation>已中断</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>It begins as soon as the model is loaded.</source>
   <translation>模型加载完成后即开始。</translation>
  </message>
  <message>
   <location filename="app/storage/outside_chats.py" />
   <source>It cannot be read ({reason}): check its rights.</source>
   <translation>无法读取（{reason}）：请检查权限。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/json_file.py" />
   <source>It comes from a newer Tenon: install that version to import it.</source>
   <translation>它来自更新版的 Tenon：请安装该版本后再导入。</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>It could not be looked at. Everything else works all the same.</source>
   <translation>无法查看。其他一切照常可用。</translation>
  </message>
  <message>
   <location filename="engine/hub/search.py" />
   <source>It holds neither GGUF nor safetensors files.</source>
   <translation>其中既没有 GGUF 文件，也没有 safetensors 文件。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>It is PyTorch for this graphics card, in a folder of its own, and can be removed again.</source>
   <translation>这是用于此显卡的 PyTorch，放在单独的文件夹中，可以再移除。</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>It is damaged, so that reading it failed.</source>
   <translation>它已损坏，无法读取。</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/erasing.py" />
   <source>It is erased in %n backup(s), too.</source>
   <translation>
    <numerusform>%n 个备份中的内容也已清除。</numerusform>
   </translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>It is for models larger than memory, and this one fits.</source>
   <translation>它适用于大于内存的模型，而此模型放得下。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>It is in use: it leaves memory first, and the built-in model answers from then on.</source>
   <translation>它正在使用：会先离开内存，之后由内置模型回答。</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>It is in use: the built-in model answers from then on.</source>
   <translation>它正在使用中：之后由内置模型回答。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>It is kept in the system's keyring.</source>
   <translation>它保存在系统的密钥环中。</translation>
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>It is larger than 1 GiB: export fewer chats.</source>
   <translation>它大于 1 GiB：请导出较少的对话。</translation>
  </message>
  <message>
   <location filename="app/storage/outside_chats.py" />
   <source>It is larger than 4 GiB, as no backup of chats is: take another one.</source>
   <translation>它大于 4 GiB，聊天备份不会这么大：请换一个。</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>It is looked up as {host}.</source>
   <translation>实际查询的是 {host}。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/reading.py" />
   <source>It is no JSON, or is damaged.</source>
   <translation>它不是 JSON，或已损坏。</translation>
  </message>
  <message>
   <location filename="app/storage/outside_chats.py" />
   <source>It is no backup of chats that can be read: take another one.</source>
   <translation>它不是可读取的对话备份：请选择其他备份。</translation>
  </message>
  <message>
   <location filename="app/storage/text_file.py" />
   <source>It is not UTF-8 text.</source>
   <translation>它不是 UTF-8 文本。</translation>
  </message>
  <message>
   <location filename="engine/hub/search.py" />
   <source>It is quantized with {method}; take the original or a GGUF version.</source>
   <translation>它已用 {method} 量化；请改用原版或 GGUF 版本。</translation>
  </message>
  <message>
   <location filename="engine/modes/ghidorah.py" />
   <source>It needs Medusa heads as its draft: choose heads that were made for this model.</source>
   <translation>此模式需要 Medusa 头作为草稿：请选择为此模型制作的头。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>It needs a draft: name a small model of the same vocabulary, or a head that was made for this model.</source>
   <translation>它需要草稿：请指定词表相同的小模型，或为此模型制作的草稿头。</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>It needs a small model as its draft, Medusa heads or prompt tokens: choose a model of the same vocabulary, or what was trained for this one. Other heads cannot guess while the model is read from the disk.</source>
   <translation>此模式需要小模型、Medusa 头或提示词元作为草稿：请选择词表相同的模型，或为此模型训练的草稿。其他草稿头无法在从磁盘读取模型时猜测。</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>It needs layers on the GPU, and the setting for GPU layers is 0.</source>
   <translation>它需要将层放在 GPU 上，而 GPU 上的层数设置为 0。</translation>
  </message>
  <message>
   <location filename="engine/modes/ppd.py" />
   <source>It needs prompt tokens as its draft: choose a set that was trained for this model.</source>
   <translation>此模式需要提示词元作为草稿：请选择为此模型训练的一组。</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>It needs {least} of memory beside its draft even when its layers are read from the disk, and {free} are free.</source>
   <translation>即使从磁盘读取各层，除草稿外它也需要 {least} 内存，而可用 {free}。</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>It needs {least} of memory even when its layers are read from the disk, and {free} are free.</source>
   <translation>即使从磁盘读取各层，它也需要 {least} 内存，而可用 {free}。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>It stays in the trash for {days} days.</source>
   <translation>它会在回收站中保留 {days} 天。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>It supports Arc cards and the graphics of Core Ultra processors alone, and is of no use with older Intel graphics.</source>
   <translation>它仅支持 Arc 显卡和 Core Ultra 处理器的核显，对较旧的 Intel 显卡没有用处。</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>It takes more than {most} GiB of memory to read: export fewer chats.</source>
   <translation>读取它需要超过 {most} GiB 内存：请导出较少的聊天。</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>It took longer than {seconds} s to read: export fewer chats.</source>
   <translation>读取它超过了 {seconds} 秒：请导出较少的聊天。</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>It was not used for a while, so its memory is free; the next message loads it again.</source>
   <translation>闲置了一段时间，内存已释放；下一条消息会重新加载。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Its draft {name} too, {size}</source>
   <translation>连同它的草稿 {name}，{size}</translation>
  </message>
  <message>
   <location filename="engine/placement/disk.py" />
   <source>Its file lies on a network drive: a solid-state drive in this machine would be faster.</source>
   <translation>其文件位于网络磁盘：放在本机的固态硬盘上会更快。</translation>
  </message>
  <message>
   <location filename="engine/placement/disk.py" />
   <source>Its file lies on a spinning disk: a solid-state drive in this machine would be faster.</source>
   <translation>其文件位于机械硬盘：放在本机的固态硬盘上会更快。</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>Its files need {needed_bytes} of disk, and {free_bytes} are free: make room, or choose a smaller model.</source>
   <translation>其文件需要 {needed_bytes} 磁盘空间，而可用 {free_bytes}：请腾出空间，或选择较小的模型。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Its files stay in {place}.</source>
   <translation>文件留在 {place}。</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Its letters are of several scripts and may look like another name: this is what is looked up.</source>
   <translation>其中的字母来自多种文字，可能看似另一个名称：实际查询的是这个。</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Its models leave the list, and its key the keyring. Chats stay.</source>
   <translation>它的模型将从列表中移除，密钥将从密钥环中删除。对话会保留。</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Its owner wants terms accepted first</source>
   <translation>所有者要求先接受条款</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>JSON, to import again (*.json)</source>
   <translation>JSON，可再导入 (*.json)</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Judge every draft</source>
   <translation>评判每个草稿</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/jump_button.py" />
   <source>Jump to latest</source>
   <translation>跳到最新</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/jump_button.py" />
   <source>Jump to latest (Ctrl+End)</source>
   <translation>跳到最新 (Ctrl+End)</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Jump to the latest message</source>
   <translation>跳到最新消息</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Keep it</source>
   <translation>保留</translation>
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>Keep token</source>
   <translation>保存令牌</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Keep, rename or delete a preset</source>
   <translation>保存、重命名或删除预设</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Keeps what the fields below say</source>
   <translation>保存下方字段的内容</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Key</source>
   <translation>密钥</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Keyboard shortcuts</source>
   <translation>键盘快捷键</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>Keys and values take 8 bits, which is lossy, so that {context} tokens of context fit into memory.</source>
   <translation>键和值采用 8 位（有损），以便内存能放下 {context} 个 token 的上下文。</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>LFM2 with experts</source>
   <translation>LFM2（混合专家）</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad was chosen, but this model fits in memory: nothing is read from the disk, so there is no wait in which the draft could guess; it guesses before each pass only.</source>
   <translation>已选择 LLMCad，但此模型内存放得下：无需从磁盘读取，因此没有可供草稿猜测的等待时间，草稿只在每次计算前猜测。</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad was chosen: layers that memory has no room for are read from the disk, and meanwhile a draft guesses ahead.</source>
   <translation>已选择 LLMCad：内存放不下的层从磁盘读取，其间草稿提前猜测。</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: drafts are trees of guesses and not single lines.</source>
   <translation>LLMCad：草稿是猜测的树，而不是单行。</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: the draft goes on below the threshold while a guess is worth its time.</source>
   <translation>LLMCad：只要猜测值得所花时间，低于阈值也继续打草稿。</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: the draft goes on while the model's weights are read.</source>
   <translation>LLMCad：读取模型权重时草稿继续进行。</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: the draft's confidence decides when the model checks it.</source>
   <translation>LLMCad：由草稿的把握决定模型何时检查。</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>LLMCad: the model checks a draft once its best guess is less likely than this, to begin with.</source>
   <translation>LLMCad：当草稿的最佳猜测概率低于此值时由模型检查（初始值）。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Language</source>
   <translation>语言</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Larger text</source>
   <translation>放大文字</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>Layer offload</source>
   <translation>逐层卸载</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>Layer offload was chosen: layers that do not fit on the GPU are copied there for each token.</source>
   <translation>已选择逐层卸载：GPU 上放不下的层，每生成一个 token 都要复制过去。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Layers on the GPU</source>
   <translation>GPU 上的层</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Leave another page, stop the reply or close a notice</source>
   <translation>离开其他页面、停止回复或关闭提示</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Leaves out tokens that are less likely than this share of the likeliest; 0 takes all.</source>
   <translation>舍弃概率低于最可能 token 的这一比例的 token；0 表示全部保留。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>Left out, because their values are not allowed: {names}.</source>
   <translation>已略去，因其值不被允许：{names}。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_paint.py" />
   <source>Legend: {looks}</source>
   <translation>图例：{looks}</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Length of drafts</source>
   <translation>草稿长度</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Length of replies</source>
   <translation>回复长度</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Licence</source>
   <translation>许可证</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Licences</source>
   <translation>许可证</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Light</source>
   <translation>浅色</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Light theme</source>
   <translation>浅色主题</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Limits</source>
   <translation>限制</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Loading and reading the prompt</source>
   <translation>加载并读取提示词</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Loading the model</source>
   <translation>正在加载模型</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Loading the model, {percent}</source>
   <translation>正在加载模型，{percent}</translation>
  </message>
  <message>
   <location filename="app/bridge/model_in_engine.py" />
   <source>Loads when the running reply is complete.</source>
   <translation>当前回复完成后加载。</translation>
  </message>
  <message>
   <location filename="app/bridge/model_in_engine.py" />
   <source>Loads when this machine is measured.</source>
   <translation>本机测量完成后加载。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Longer texts, code and careful answers in many languages.</source>
   <translation>多种语言的较长文本、代码和细致回答。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Longest reply</source>
   <translation>最长回复</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Longest reply in tokens.</source>
   <translation>最长回复，以 token 计。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Look again</source>
   <translation>再查一次</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Look up its size</source>
   <translation>查询大小</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Look words up too</source>
   <translation>同时查找文本</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Looking at the graphics card...</source>
   <translation>正在查看显卡...</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>Looking at what runs here...</source>
   <translation>正在查看本机能运行什么...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Looking whether it works here...</source>
   <translation>正在检查能否在本机运行...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Looking which modes can run</source>
   <translation>正在查看可用的模式</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Lookup</source>
   <translation>查找</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>Low</source>
   <translation>低</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>MB/s over the reply</source>
   <translation>回复期间的 MB/s</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Make folder</source>
   <translation>新建文件夹</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Makes words that were used already less likely; 1 leaves them as they are.</source>
   <translation>降低已用过的词的概率；1 表示不变。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mark accepted drafts</source>
   <translation>标记已接受的草稿</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Markdown, to read (*.md)</source>
   <translation>Markdown，供阅读 (*.md)</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Marks what a draft guessed and the model accepted, in finished replies</source>
   <translation>在完成的回复中标记草稿猜中且被模型接受的内容</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measure again</source>
   <translation>重新测量</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Measure every mode</source>
   <translation>测量所有模式</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measure speeds</source>
   <translation>测量速度</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>Measured</source>
   <translation>实测</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measured on {date}</source>
   <translation>测量于 {date}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measured today at {time}</source>
   <translation>今天 {time} 测量</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measured while other programs kept it busy</source>
   <translation>测量时其他程序占用了本机</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measurements are kept and improve the predictions for this model.</source>
   <translation>测量结果会保留，使此模型的预测更准。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>Measures processor, memory and disks anew, in some seconds</source>
   <translation>重新测量处理器、内存和磁盘，需数秒</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Measuring</source>
   <translation>测量中</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Measuring its speed, {share}. You need not wait.</source>
   <translation>正在测量速度，{share}。不必等待。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Measuring processor, memory and disk</source>
   <translation>正在测量处理器、内存和磁盘</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>Medium</source>
   <translation>中</translation>
  </message>
  <message>
   <location filename="engine/modes/ghidorah.py" />
   <source>Medusa heads guess several tokens in one step, the model checks a tree of them at once.</source>
   <translation>Medusa 头在一步中猜测多个 token，模型一次检查由它们组成的树。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Memory</source>
   <translation>内存</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Memory budget</source>
   <translation>内存预算</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed_experts.py" />
   <source>Memory holds {part}, those that were used last; the others are read from the disk when a token chooses them: up to {size} GB for each token, which takes about {seconds} s.</source>
   <translation>内存中有{part}，即最近用过的那些；其余专家在 token 选中时从磁盘读取：每个 token 最多 {size} GB，约需 {seconds} 秒。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Memory in all</source>
   <translation>内存合计</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Memory it would take</source>
   <translation>所需内存</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>Memory: {parts}</source>
   <translation>内存：{parts}</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Menu</source>
   <translation>菜单</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Merge two sorted lists in Python</source>
   <translation>用 Python 合并两个有序列表</translation>
  </message>
  <message>
   <location filename="app/ui/composer/prompt_edit.py" />
   <source>Message</source>
   <translation>消息</translation>
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Messages</source>
   <translation>消息</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Min p</source>
   <translation>Min p</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions was chosen: several drafts guess, and the model checks what they say together.</source>
   <translation>已选择 Minions：多个草稿进行猜测，模型检验它们共同的结果。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Minions' selector</source>
   <translation>Minions 选择器</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: a draft of whose guesses a larger share is right on average gains weight.</source>
   <translation>Minions：平均正确比例高于此值的草稿，其权重增加。</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: a draft of whose guesses a smaller share is right on average loses weight.</source>
   <translation>Minions：平均正确比例低于此值的草稿，其权重减少。</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: each check changes the weights of all drafts; else only of the one that was voted for.</source>
   <translation>Minions：每次检验改变所有草稿的权重；否则只改变得票草稿的权重。</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: the model checks the best guesses of all drafts; else the one line that most votes are for.</source>
   <translation>Minions：模型检验所有草稿中最好的猜测；否则只检验得票最多的一条。</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: the weight of a draft that is punished is multiplied by this.</source>
   <translation>Minions：受罚草稿的权重乘以此值。</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Minions: the weight of a draft that is rewarded is multiplied by this.</source>
   <translation>Minions：受奖草稿的权重乘以此值。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mirror</source>
   <translation>镜像</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing are chapters that are damaged or not there: {numbers}.</source>
   <translation>缺少已损坏或不存在的章节：{numbers}。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing are damaged pages: {numbers}.</source>
   <translation>缺少已损坏的页：{numbers}。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing are pages that are pictures without text: {numbers}.</source>
   <translation>缺少只有图片而没有文字的页：{numbers}。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing is the text after “{words}”.</source>
   <translation>缺少“{words}”之后的文字。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>Missing is the text of embedded charts, diagrams and documents.</source>
   <translation>缺少嵌入的图表、示意图和文档中的文字。</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Mistral 3 (text part)</source>
   <translation>Mistral 3（文本部分）</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Mode</source>
   <translation>模式</translation>
  </message>
  <message>
   <location filename="app/ui/composer/mode_button.py" />
   <source>Mode: {mode}</source>
   <translation>模式：{mode}</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>Model</source>
   <translation>模型</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Model to plan</source>
   <translation>方案的模型</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>Model's default</source>
   <translation>模型默认</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Model's own</source>
   <translation>模型自带</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Model: {model}</source>
   <translation>模型：{model}</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Model: {model}, {state}</source>
   <translation>模型：{model}，{state}</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Model: {name}</source>
   <translation>模型：{name}</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Models</source>
   <translation>模型</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>Models (*.gguf *.safetensors *.json *.model *.bin)</source>
   <translation>模型 (*.gguf *.safetensors *.json *.model *.bin)</translation>
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Models (*.gguf *.safetensors)</source>
   <translation>模型 (*.gguf *.safetensors)</translation>
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>Models and speed</source>
   <translation>模型与速度</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Models of other programs are used where they are. Nothing there is ever changed.</source>
   <translation>其他程序的模型在原位置使用，绝不会更改其中的任何内容。</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>Models stay. Files that you have exported stay where you saved them.</source>
   <translation>模型保留。已导出的文件留在保存的位置。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Models to get</source>
   <translation>可获取的模型</translation>
  </message>
  <message>
   <location filename="app/ui/composer/mode_button.py" />
   <source>Modes</source>
   <translation>模式</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Modes that need a draft take {draft}</source>
   <translation>需要草稿的模式使用 {draft}</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>More about {name}</source>
   <translation>关于 {name} 的更多信息</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>More for presets</source>
   <translation>预设的更多操作</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>More for this message</source>
   <translation>此消息的更多操作</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>More for this reply</source>
   <translation>此回复的更多操作</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>More models</source>
   <translation>更多模型</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>More than one installed model is {name}: name {either}.</source>
   <translation>有多个已安装的模型符合 {name}：请指明 {either}。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>More than {size} came in one answer, which no honest one has: check the address of the server, and the proxy.</source>
   <translation>一次回答超过了 {size}，正常的回答不会这样：请检查服务器的地址和代理。</translation>
  </message>
  <message>
   <location filename="app/chat/recommendation.py" />
   <source>Most capable</source>
   <translation>能力最强</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most layers of the model in the GPU's memory; more is faster until it is full.</source>
   <translation>放入 GPU 显存的最多层数；在占满之前越多越快。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most memory that the engine takes; weights beyond it are read from the disk again and again.</source>
   <translation>引擎最多占用的内存；超出的权重会反复从磁盘读取。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Most of the GPU's memory that the engine takes; 0 leaves the GPU alone.</source>
   <translation>引擎最多占用的 GPU 显存；0 表示不使用 GPU。</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Move</source>
   <translation>移动</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Move chat to folder...</source>
   <translation>将对话移到文件夹...</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Move the models to an empty folder</source>
   <translation>将模型移到空文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Move the models?</source>
   <translation>移动模型？</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Move to folder</source>
   <translation>移到文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Move...</source>
   <translation>移动...</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Moving the models</source>
   <translation>正在移动模型</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Multilingual, good at following instructions, with a long context.</source>
   <translation>多语言，善于遵循指令，上下文很长。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>NVIDIA keeps the wheels for Jetson in an index for each JetPack release, so give the address of the one for yours with --index.</source>
   <translation>NVIDIA 为每个 JetPack 版本分别提供存放 Jetson wheel 文件的索引，因此请用 --index 指定与本机版本对应的地址。</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>Name</source>
   <translation>名称</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_delegate.py" />
   <source>Name of the folder</source>
   <translation>文件夹名称</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Name of the new folder</source>
   <translation>新文件夹名称</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Name of the new preset</source>
   <translation>新预设名称</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>Needs a GPU, and the GPU memory budget of 0 leaves it alone.</source>
   <translation>需要 GPU，而显存预算为 0，不使用 GPU。</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>Needs a GPU, and there is none that Tenon can use here.</source>
   <translation>需要 GPU，而本机没有 Tenon 可用的 GPU。</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>Needs a draft of another kind: choose one in the menu of models.</source>
   <translation>需要另一种草稿：请在模型菜单中选择。</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>Needs a draft: choose one in the menu of models.</source>
   <translation>需要草稿：请在模型菜单中选择。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Network</source>
   <translation>网络</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Network disk</source>
   <translation>网络磁盘</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Never</source>
   <translation>从不</translation>
  </message>
  <message>
   <location filename="app/chat/title.py" />
   <source>New chat</source>
   <translation>新对话</translation>
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>New chat (Ctrl+N)</source>
   <translation>新对话 (Ctrl+N)</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>New chats start with this preset</source>
   <translation>新对话使用此预设</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>New each time</source>
   <translation>每次不同</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>New folder...</source>
   <translation>新建文件夹...</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>New key</source>
   <translation>新密钥</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Next chat</source>
   <translation>下一个对话</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Next place</source>
   <translation>下一处</translation>
  </message>
  <message>
   <location filename="app/ui/find_in_chat.py" />
   <source>Next place found</source>
   <translation>下一处结果</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Next version</source>
   <translation>下一版本</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>No GPU that Tenon can use</source>
   <translation>没有 Tenon 可用的 GPU</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>No account and no telemetry. Models come from Hugging Face.</source>
   <translation>无需账号，没有遥测。模型来自 Hugging Face。</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>No backup has it.</source>
   <translation>没有备份含有它。</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>No command and no article has these letters.</source>
   <translation>没有包含这些字符的命令或文章。</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>No draft came with this model: modes that need one cannot run</source>
   <translation>此模型没有附带草稿模型：需要草稿的模式无法运行</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>No graphics card</source>
   <translation>没有显卡</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>No graphics card was found that GPU support could be fetched for.</source>
   <translation>未找到可获取 GPU 支持的显卡。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>No limit</source>
   <translation>不限</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>No mode has an option {name}: choose {names}.</source>
   <translation>没有任何模式有选项 {name}：请选择 {names}。</translation>
  </message>
  <message>
   <location filename="engine/planning/mode_plan.py" />
   <source>No mode that this version has can run this model here.</source>
   <translation>此版本的所有模式都无法在本机运行此模型。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>No model is in memory.</source>
   <translation>内存中没有模型。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/page_stack.py" />
   <source>No setting was found: try another word, or choose another page.</source>
   <translation>未找到设置：请换个词或选择其他页面。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>No step is chosen.</source>
   <translation>未选择步骤。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>No text.</source>
   <translation>没有文本。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>None</source>
   <translation>无</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>None of the usual ones fits in its memory; the page Models has all of them.</source>
   <translation>常用模型都放不进内存；“模型”页列出了全部。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>None yet</source>
   <translation>暂无</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>Not even one layer fits into what is free of the GPU's memory, {free_bytes}.</source>
   <translation>GPU 的可用显存为 {free_bytes}，连一层也放不下。</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Not for {model}: {reason}</source>
   <translation>不适用于 {model}：{reason}</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>Not found: {place}</source>
   <translation>未找到：{place}</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Not possible now</source>
   <translation>目前不可用</translation>
  </message>
  <message>
   <location filename="app/ui/choice_popup.py" />
   <source>Not possible: {reason}</source>
   <translation>不可用：{reason}</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Nothing found</source>
   <translation>未找到</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/sidebar.py" />
   <source>Nothing found.</source>
   <translation>未找到。</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>Nothing found: try fewer words or filters.</source>
   <translation>未找到：请减少搜索词或筛选条件。</translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>Nothing found: try other words.</source>
   <translation>未找到：请换其他词试试。</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>Nothing of this session is saved, so nothing can be imported: make room for it first.</source>
   <translation>本次会话不会保存，因此无法导入：请先腾出空间。</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>Nothing of this session is saved.</source>
   <translation>本次会话的内容均未保存。</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Nothing to import: give a folder, a GGUF file, or the files of one model.</source>
   <translation>没有可导入的内容：请指定文件夹、GGUF 文件，或同一模型的各个文件。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>Nothing was drafted for this reply</source>
   <translation>此回复没有草稿</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Now</source>
   <translation>现在</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Number format of keys and values; 8 bits take half the memory and are a little less exact.</source>
   <translation>键和值的数字格式；8 位占一半内存，精度略低。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Number format of the weights in memory; fewer bits are smaller and faster, and less exact.</source>
   <translation>权重在内存中的数字格式；位数越少越小越快，但精度较低。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Of {all} tokens, this many were thoughts before the answer.</source>
   <translation>共 {all} 个 token，其中这么多是回答前的思考。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>Off</source>
   <translation>关</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>Offline mode is on, so {url} is not asked.</source>
   <translation>离线模式已开启，因此不会访问 {url}。</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Older</source>
   <translation>更早</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/thinking_field.py" />
   <source>On</source>
   <translation>开</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>On a server</source>
   <translation>在服务器上</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>On battery most computers are slower: plug it in to measure.</source>
   <translation>使用电池时多数电脑较慢：请接通电源再测量。</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>On servers</source>
   <translation>在服务器上</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>On this computer</source>
   <translation>在本机上</translation>
  </message>
  <message>
   <location filename="app/chat/choices.py" />
   <source>On {server}, {address}</source>
   <translation>在 {server} 上，{address}</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>One of the two folders is in the other: choose a folder elsewhere.</source>
   <translation>两个文件夹中的一个位于另一个之内：请选择其他位置的文件夹。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/reading.py" />
   <source>Only files exported by Tenon, its backups and ChatGPT's conversations.json can be imported.</source>
   <translation>只能导入由 Tenon 导出的文件、它的备份以及 ChatGPT 的 conversations.json。</translation>
  </message>
  <message>
   <location filename="engine/model/loader.py" />
   <source>Only {count} of {rows} rows of {name} were filled; report this as a bug.</source>
   <translation>{name} 的 {rows} 行中只填入了 {count} 行；请报告此缺陷。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open This machine</source>
   <translation>打开“本机”</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Open a model file...</source>
   <translation>打开模型文件...</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>Open a model folder...</source>
   <translation>打开模型文件夹...</translation>
  </message>
  <message>
   <location filename="app/ui/file_drops.py" />
   <source>Open as a model, in a new chat</source>
   <translation>作为模型在新对话中打开</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Open data folder</source>
   <translation>打开数据文件夹</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Open folder</source>
   <translation>打开文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Open its page</source>
   <translation>打开页面</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Open link</source>
   <translation>打开链接</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Open log folder</source>
   <translation>打开日志文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Open model file</source>
   <translation>打开模型文件</translation>
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Open model folder</source>
   <translation>打开模型文件夹</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open models</source>
   <translation>打开模型页</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Open page</source>
   <translation>打开页面</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open settings</source>
   <translation>打开设置</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Open the chat or the message</source>
   <translation>打开对话或消息</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Open the data folder</source>
   <translation>打开数据文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Open this link in your browser?</source>
   <translation>在浏览器中打开此链接？</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Opens the inspector</source>
   <translation>打开检查器</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Other programs</source>
   <translation>其他程序</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Other programs kept the machine busy meanwhile: it is measured again when it rests.</source>
   <translation>测量期间其他程序占用了本机：空闲时会重新测量。</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Out of the folder</source>
   <translation>移出文件夹</translation>
  </message>
  <message>
   <location filename="engine/modes/ppd.py" />
   <source>PPD was chosen: prompt tokens let the model guess further ahead in the same pass in which it checks its earlier guesses.</source>
   <translation>已选择 PPD：提示词元让模型在检查先前猜测的同一遍中继续向前猜测。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/page_list.py" />
   <source>Pages of settings</source>
   <translation>设置页面</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Paired</source>
   <translation>已配对</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Panels and marks</source>
   <translation>面板和标记</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Part of the model is missing</source>
   <translation>模型缺少一部分</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>Partial offload</source>
   <translation>部分卸载</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>Partial offload was chosen: the first layers on the GPU, the others on the CPU.</source>
   <translation>已选择部分卸载：前面的层在 GPU 上，其余在 CPU 上。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Pause</source>
   <translation>暂停</translation>
  </message>
  <message>
   <location filename="app/ui/models/download_list.py" />
   <source>Pause {name}</source>
   <translation>暂停 {name}</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Paused, {share}</source>
   <translation>已暂停，{share}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Paused. What has come stays on the disk.</source>
   <translation>已暂停。已下载的部分保留在磁盘上。</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Pin</source>
   <translation>置顶</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Pinned</source>
   <translation>已置顶</translation>
  </message>
  <message>
   <location filename="engine/modes/plain.py" />
   <source>Plain</source>
   <translation>普通</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Plain decoding</source>
   <translation>普通解码</translation>
  </message>
  <message>
   <location filename="engine/modes/plain.py" />
   <source>Plain decoding was chosen: one token for each pass.</source>
   <translation>已选择普通解码：每次计算生成一个 token。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Plain decoding would have reached {speed}, measured during this reply.</source>
   <translation>根据此回复期间的测量，普通解码的速度为 {speed}。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Plain, fluent writing and conversation.</source>
   <translation>朴实流畅的写作和对话。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Plan</source>
   <translation>方案</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>Plan for {model}</source>
   <translation>{model} 的方案</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>Plan: {rows}</source>
   <translation>方案：{rows}</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Port</source>
   <translation>端口</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Port of this computer, 1 to 65535</source>
   <translation>本机端口，1 到 65535</translation>
  </message>
  <message>
   <location filename="engine/server/serving.py" />
   <source>Port {port} cannot be used ({reason}): choose another.</source>
   <translation>端口 {port} 无法使用（{reason}）：请选择其他端口。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Precision of the cache</source>
   <translation>缓存精度</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Precision of the weights</source>
   <translation>权重精度</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Predicted</source>
   <translation>预测</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Predicted from this machine's speeds and from replies of this model here.</source>
   <translation>根据本机速度和此模型在本机的回复预测。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Predicted from this machine's speeds.</source>
   <translation>根据本机速度预测。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Preset</source>
   <translation>预设</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Press the button</source>
   <translation>按下按钮</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Previous 7 days</source>
   <translation>过去 7 天</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Previous chat</source>
   <translation>上一个对话</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>Previous place</source>
   <translation>上一处</translation>
  </message>
  <message>
   <location filename="app/ui/find_in_chat.py" />
   <source>Previous place found</source>
   <translation>上一处结果</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Previous version</source>
   <translation>上一版本</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Privacy and data</source>
   <translation>隐私与数据</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Processor</source>
   <translation>处理器</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Processor threads</source>
   <translation>处理器线程</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Programs and tools in long contexts, in English and Chinese; it answers at the speed of a small model.</source>
   <translation>擅长长上下文中的编程和工具调用，支持英文和中文；回答速度和小模型一样。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Programs are answered with {model}.</source>
   <translation>由 {model} 回答其他程序。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Programs that speak Anthropic's or Ollama's protocol take it without /v1.</source>
   <translation>使用 Anthropic 或 Ollama 协议的程序，地址不带 /v1。</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>Programs with OpenAI's library</source>
   <translation>使用 OpenAI 库的程序</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Prompt</source>
   <translation>提示词</translation>
  </message>
  <message>
   <location filename="engine/modes/lookup.py" />
   <source>Prompt lookup was chosen.</source>
   <translation>已选择提示词查找。</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Prompt tokens in the draft</source>
   <translation>草稿中的提示词元</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Prompt: {prompt}</source>
   <translation>提示词：{prompt}</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Proxy</source>
   <translation>代理</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Proxy or mirror</source>
   <translation>代理或镜像</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Punish below</source>
   <translation>低于此值则惩罚</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Punishment</source>
   <translation>惩罚</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>Put all settings back to their defaults, too</source>
   <translation>同时将所有设置恢复默认</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Quantization</source>
   <translation>量化</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Quick answers and rewording in many languages.</source>
   <translation>多种语言的快速回答和改写。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Quick answers, rewording and summaries of long texts.</source>
   <translation>快速回答、改写和长文本摘要。</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Qwen2 with experts</source>
   <translation>Qwen2（混合专家）</translation>
  </message>
  <message>
   <location filename="engine/model/families.py" />
   <source>Qwen3 with experts</source>
   <translation>Qwen3（混合专家）</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>RAM, GB</source>
   <translation>内存，GB</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>ROCm supports newer Radeon and Instinct cards alone, so look yours up in AMD's list before you fetch it.</source>
   <translation>ROCm 仅支持较新的 Radeon 和 Instinct 显卡，因此获取之前请先在 AMD 的列表中查找自己的显卡。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Raise the memory budget</source>
   <translation>提高内存预算</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Read from the disk</source>
   <translation>从磁盘读取</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Reading its files</source>
   <translation>正在读取文件</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Reading the prompt</source>
   <translation>正在读取提示词</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Reading the prompt, {percent}</source>
   <translation>正在读取提示词，{percent}</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Reading the prompt, {share}</source>
   <translation>正在读取提示词，{share}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Reads {rate}</source>
   <translation>读取 {rate}</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Reasoning, code and writing in many languages.</source>
   <translation>多种语言的推理、代码和写作。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Reasoning, code and writing; strong for its size.</source>
   <translation>推理、代码和写作；同等大小中表现出色。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Reasoning, mathematics and code in short chats.</source>
   <translation>短对话中的推理、数学和代码。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Reasons before it answers; 3.6 billion of its weights work on each token.</source>
   <translation>先思考再回答；每个 token 使用其中 36 亿个权重。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Reload with a smaller context</source>
   <translation>用较小的上下文重新加载</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Remove</source>
   <translation>移除</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Remove from the list</source>
   <translation>从列表移除</translation>
  </message>
  <message>
   <location filename="app/ui/composer/attachment_row.py" />
   <source>Remove {name}</source>
   <translation>移除 {name}</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Remove {name}?</source>
   <translation>移除 {name}？</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Remove, frees {size}</source>
   <translation>移除，释放 {size}</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Remove...</source>
   <translation>移除...</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Removing...</source>
   <translation>正在移除...</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Rename</source>
   <translation>重命名</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Rename chat</source>
   <translation>重命名对话</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Rename folder</source>
   <translation>重命名文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Rename “{name}”...</source>
   <translation>重命名“{name}”...</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Repetition penalty</source>
   <translation>重复惩罚</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Replies</source>
   <translation>回复</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>Replies in {name} weights will be slow: this processor has neither AVX2 nor ARM's dot products.</source>
   <translation>使用 {name} 权重时回复会很慢：此处理器既没有 AVX2，也没有 ARM 的点积指令。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>Replies in {name} weights will be slow: {why}</source>
   <translation>使用 {name} 权重时回复会很慢：{why}</translation>
  </message>
  <message>
   <location filename="engine/text/output_form.py" />
   <source>Replies of this model cannot be held to a form: use another model.</source>
   <translation>此模型的回复无法限定格式：请使用其他模型。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply.py" />
   <source>Reply</source>
   <translation>回复</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Requests that run</source>
   <translation>运行中的请求</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Requests that wait</source>
   <translation>等待中的请求</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Reset all</source>
   <translation>全部重置</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Reset settings</source>
   <translation>重置设置</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row.py" />
   <source>Reset {setting}</source>
   <translation>重置{setting}</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Residual speculative sampling</source>
   <translation>残差推测采样</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Residual speculative sampling, siblings with replacement</source>
   <translation>残差推测采样，兄弟节点有放回</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Restart</source>
   <translation>重新启动</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Restore from the archive</source>
   <translation>从归档恢复</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Reward</source>
   <translation>奖励</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Reward above</source>
   <translation>高于此值则奖励</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Room between rows and between messages.</source>
   <translation>行与消息之间的间距。</translation>
  </message>
  <message>
   <location filename="app/bridge/power_watch.py" />
   <source>Running on battery: replies may be slower.</source>
   <translation>正在使用电池：回复可能较慢。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Runs each usable mode on the same prompts. Speeds in tok/s.</source>
   <translation>用相同的提示词运行每种可用模式。速度单位 tok/s。</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>Runs language models on this computer. Nothing you write leaves it.</source>
   <translation>在本机上运行语言模型。所写内容不会离开本机。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Runs on this computer. Replies can be wrong, so check what matters.</source>
   <translation>在本机运行。回复可能有误，重要内容请核实。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>SSD</source>
   <translation>固态硬盘</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Sample and match</source>
   <translation>采样并匹配</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save</source>
   <translation>保存</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save as new preset...</source>
   <translation>另存为新预设...</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/preset_row.py" />
   <source>Save in “{name}”</source>
   <translation>保存到“{name}”</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Saved as {name}.</source>
   <translation>已保存为 {name}。</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Scroll by a page</source>
   <translation>翻一页</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Scroll the messages by a page</source>
   <translation>消息翻一页</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Search all settings</source>
   <translation>搜索所有设置</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Search chats</source>
   <translation>搜索对话</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>Search commands</source>
   <translation>搜索命令</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_news.py" />
   <source>Search models</source>
   <translation>搜索模型</translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>Search the help</source>
   <translation>搜索帮助</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Second mode</source>
   <translation>第二种模式</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Seed</source>
   <translation>种子</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Select the whole message</source>
   <translation>选择整条消息</translation>
  </message>
  <message>
   <location filename="app/ui/composer/send_button.py" />
   <source>Send</source>
   <translation>发送</translation>
  </message>
  <message>
   <location filename="app/ui/composer/composer.py" />
   <source>Send (Enter)</source>
   <translation>发送 (Enter)</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_editor.py" />
   <source>Send it as a version of its own; the message before stays</source>
   <translation>作为新版本发送；原消息保留</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Server for other programs</source>
   <translation>供其他程序使用的服务器</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Settings</source>
   <translation>设置</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>Settings (*.json)</source>
   <translation>设置 (*.json)</translation>
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>Settings cannot be saved in {folder} ({reason}): make it writable or free some space.</source>
   <translation>无法在 {folder} 中保存设置（{reason}）：请使其可写或腾出空间。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Settings of programs</source>
   <translation>程序的设置</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Settings shown</source>
   <translation>显示的设置</translation>
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>Settings with values that are not allowed were reset: {names}.</source>
   <translation>值不被允许的设置已重置：{names}。</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Settings...</source>
   <translation>设置...</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>Several drafts guess and vote, and the model checks what they say together.</source>
   <translation>多个草稿进行猜测并投票，模型检验它们共同的结果。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Shares the computer's memory</source>
   <translation>共享电脑内存</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Short answers and simple rewording; often wrong.</source>
   <translation>简短回答和简单改写；常出错。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Short answers and tool calls on weak computers.</source>
   <translation>在配置较低的电脑上给出简短回答并调用工具。</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/models_page.py" />
   <source>Show all %n model(s)</source>
   <translation>
    <numerusform>显示全部 %n 个模型</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Show details</source>
   <translation>显示详情</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Show guesses while they are unconfirmed</source>
   <translation>显示尚未确认的猜测</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>Show its folder</source>
   <translation>显示文件夹</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/long_text.py" />
   <source>Show more</source>
   <translation>显示更多</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/long_text.py" />
   <source>Show more ({shown} of {all})</source>
   <translation>显示更多（{shown}/{all}）</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Show or hide the chats</source>
   <translation>显示或隐藏对话</translation>
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>Show or hide the chats (Ctrl+B)</source>
   <translation>显示或隐藏对话 (Ctrl+B)</translation>
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>Show or hide the inspector (F12)</source>
   <translation>显示或隐藏检查器 (F12)</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Show the thoughts</source>
   <translation>显示思考</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Shows what a file would change; Apply takes it over.</source>
   <translation>显示文件会更改什么；点“应用”后生效。</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>Sign in on its page and accept the terms there, make an access token in the hub's settings, and paste it here. It is kept in the system's keyring.</source>
   <translation>请在其页面登录并接受条款，在 Hub 的设置中创建访问令牌并粘贴到这里。令牌保存在系统钥匙串中。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/head.py" />
   <source>Simple</source>
   <translation>简单</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>Size</source>
   <translation>大小</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Size of text</source>
   <translation>文字大小</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Slow: Tenon's kernels are not there</source>
   <translation>较慢：缺少 Tenon 的计算内核</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>Slower than you read</source>
   <translation>比阅读速度慢</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Small and multilingual, with a long context.</source>
   <translation>小巧、多语言，上下文很长。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Small models that guess words ahead for the large one; each model has its own.</source>
   <translation>为大模型提前猜词的小模型；每个模型有自己的。</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Smaller text</source>
   <translation>缩小文字</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>Some changes are not applied yet.</source>
   <translation>有些更改尚未应用。</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Some messages are in memory only, and are lost when Tenon closes.</source>
   <translation>有些消息只在内存中，关闭 Tenon 后会丢失。</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>Something could not be saved: restart Tenon, please.</source>
   <translation>有内容未能保存：请重新启动 Tenon。</translation>
  </message>
  <message>
   <location filename="app/bridge/gpu_addon.py" />
   <source>Something unexpected went wrong with GPU support: try again, or look into the log.</source>
   <translation>GPU 支持出现意外问题：请重试或查看日志。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Something went wrong</source>
   <translation>出了点问题</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Spacing</source>
   <translation>间距</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Speed</source>
   <translation>速度</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Speed and memory</source>
   <translation>速度与内存</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>Speed by width</source>
   <translation>各宽度的速度</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Speed never measured</source>
   <translation>从未测量速度</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>Speeds are guesses until this machine is measured.</source>
   <translation>在测量本机之前，速度均为估计。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>Speeds are predicted from measurements made here.</source>
   <translation>速度根据本机的测量预测。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>Speeds in tok/s</source>
   <translation>速度单位 tok/s</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Speeds never measured</source>
   <translation>从未测量速度</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>Speeds were measured while other programs were busy, and will be measured again.</source>
   <translation>测量速度时其他程序正忙，之后会重新测量。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Status</source>
   <translation>状态</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/strip.py" />
   <source>Status: {words}</source>
   <translation>状态：{words}</translation>
  </message>
  <message>
   <location filename="app/ui/main_window.py" />
   <source>Stay</source>
   <translation>留下</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>Stay here</source>
   <translation>留在此处</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/dialog.py" />
   <source>Stop</source>
   <translation>停止</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>Stop measuring</source>
   <translation>停止测量</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Stop replies that repeat themselves</source>
   <translation>停止重复的回复</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>Stop the reply</source>
   <translation>停止回复</translation>
  </message>
  <message>
   <location filename="app/ui/composer/send_button.py" />
   <source>Stop the reply (Esc)</source>
   <translation>停止回复 (Esc)</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Stopped</source>
   <translation>已停止</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Stopping</source>
   <translation>正在停止</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Stops a reply that goes round in a circle; under it you can let it go on.</source>
   <translation>停止陷入循环的回复；可在回复下方让它继续。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Switch off</source>
   <translation>关闭</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>Switch on</source>
   <translation>开启</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>System prompt</source>
   <translation>系统提示词</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/table.py" />
   <source>Table</source>
   <translation>表格</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Take away all that this chat sets for itself</source>
   <translation>清除此对话自身的所有设置</translation>
  </message>
  <message>
   <location filename="app/ui/continue_line.py" />
   <source>Take turns instead</source>
   <translation>改为轮流对话</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Takes no room; the model is gone when the files are moved or their disk is not there.</source>
   <translation>不占空间；若文件被移动或其磁盘不在，模型便无法使用。</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>Takes the fastest mode for this model and this computer.</source>
   <translation>采用适合此模型和本机的最快模式。</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>Technical details</source>
   <translation>技术详情</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Tell when a reply is done</source>
   <translation>回复完成时通知</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Temperature</source>
   <translation>温度</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon cannot run GGUF files of the architecture {name}; choose another model. It runs {names}.</source>
   <translation>Tenon 无法运行 {name} 架构的 GGUF 文件，请选择另一个模型。它可运行 {names}。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon cannot run this model</source>
   <translation>Tenon 无法运行此模型</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon cannot run {architecture} with a text part of the type {kind}; it runs {names}. Choose another model.</source>
   <translation>Tenon 无法运行文本部分类型为 {kind} 的 {architecture}；可以运行的类型是 {names}。请选择另一个模型。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon cannot run {architecture}; choose a model of another family. It runs {names}.</source>
   <translation>Tenon 无法运行 {architecture}，请选择其他系列的模型。它可运行 {names}。</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>Tenon cannot write to {folder}: make it writable, or set TENON_DATA_DIR to another folder.</source>
   <translation>Tenon 无法写入 {folder}：请使其可写，或将 TENON_DATA_DIR 设为其他文件夹。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>Tenon chats</source>
   <translation>Tenon 对话</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon did not end as it should last time</source>
   <translation>Tenon 上次未正常退出</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>Tenon does not know how the tokenizer in the GGUF file splits a text (tokenizer.ggml.pre is {name}); choose a newer file of this model, or its safetensors version.</source>
   <translation>Tenon 不知道 GGUF 文件中的分词器如何切分文本（tokenizer.ggml.pre 为 {name}）；请选择此模型较新的文件，或其 safetensors 版本。</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>Tenon does not know how this model's tokenizer splits a text (tokenizer.ggml.pre is {name}) and splits it as other models of the same family do ({own}). Where replies are poor, try the model's safetensors version.</source>
   <translation>Tenon 不知道此模型的分词器如何切分文本（tokenizer.ggml.pre 为 {name}），因此按同系列其他模型的方式（{own}）切分。如果回答质量不佳，请尝试该模型的 safetensors 版本。</translation>
  </message>
  <message>
   <location filename="engine/hub/search.py" />
   <source>Tenon does not run {architecture}.</source>
   <translation>Tenon 无法运行 {architecture}。</translation>
  </message>
  <message>
   <location filename="app/storage/conversation_store.py" />
   <source>Tenon ended before this reply was complete.</source>
   <translation>Tenon 在此回复完成前退出了。</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon has no RoPE of the type {kind} in GGUF files; choose another model.</source>
   <translation>Tenon 不支持 GGUF 文件中 {kind} 类型的 RoPE；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/model/rope.py" />
   <source>Tenon has no RoPE of the type {kind}; the types are {names}.</source>
   <translation>Tenon 不支持 {kind} 类型的 RoPE；支持的类型为 {names}。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon has no activation {activation}; it has {names}.</source>
   <translation>Tenon 不支持激活函数 {activation}；它支持 {names}。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>Tenon has no activation {hidden_act}; choose another draft.</source>
   <translation>Tenon 不支持激活函数 {hidden_act}；请选择其他草稿。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon has no convolutions with a bias (conv_bias); choose another model.</source>
   <translation>Tenon 不支持带偏置的卷积 (conv_bias)；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>Tenon has no draft of the kind {speculators}; it runs EAGLE-1 to 3, P-EAGLE, DFlash, DSpark, IBM's MLP speculators and Dovetail's gated fusion.</source>
   <translation>Tenon 没有 {speculators} 这种草稿；它能运行 EAGLE-1 到 3、P-EAGLE、DFlash、DSpark、IBM 的 MLP speculator，以及 Dovetail 的门控融合。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>Tenon has no draft with LongRoPE; choose another draft.</source>
   <translation>Tenon 不支持使用 LongRoPE 的草稿；请选择其他草稿。</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon has no heads whose keys and values differ in size; choose another model.</source>
   <translation>Tenon 不支持键与值大小不同的注意力头；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/model/packed_loader.py" />
   <source>Tenon has no kernels for {kinds}, so the model's matrices in it are computed with as Q8_0.</source>
   <translation>Tenon 没有 {kinds} 的内核，因此模型中的这些矩阵按 Q8_0 计算。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon has no layers of the type {unknown}; choose another model.</source>
   <translation>Tenon 不支持 {unknown} 类型的层；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/model/rope.py" />
   <source>Tenon has no multimodal RoPE (mrope_section); choose the text-only model.</source>
   <translation>Tenon 不支持多模态 RoPE (mrope_section)；请选择纯文本模型。</translation>
  </message>
  <message>
   <location filename="engine/model/rope.py" />
   <source>Tenon has no partial_rotary_factor ({fraction}) in this architecture; choose another model.</source>
   <translation>Tenon 不支持此架构中的 partial_rotary_factor（{fraction}）；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>Tenon has no tokenizer of the kind {kind} in GGUF files; choose another model, or its safetensors version.</source>
   <translation>Tenon 不支持 GGUF 文件中 {kind} 类型的分词器；请选择其他模型，或其 safetensors 版本。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon has no {feature} in {name}; choose another model.</source>
   <translation>Tenon 不支持 {name} 中的 {feature}；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon has no {key} ({found}) in GGUF files of {architecture}; choose another model.</source>
   <translation>Tenon 不支持 {architecture} 的 GGUF 文件中的 {key}（{found}）；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon has rope.scaling.attn_factor with LongRoPE alone; choose another model.</source>
   <translation>Tenon 仅在使用 LongRoPE 时支持 rope.scaling.attn_factor；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon knows {feature} as {known} alone, and this model has {found}; choose another model.</source>
   <translation>Tenon 只支持 {feature} 为 {known}，而此模型为 {found}；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Tenon made a mistake</source>
   <translation>Tenon 出错了</translation>
  </message>
  <message>
   <location filename="app/bridge/uncaught.py" />
   <source>Tenon made a mistake and goes on: restart it if something looks wrong, and report the details.</source>
   <translation>Tenon 出错了，但会继续运行：若有异常请重新启动，并报告详情。</translation>
  </message>
  <message>
   <location filename="engine/engine.py" />
   <source>Tenon made a mistake and stopped this reply: try again, and report it if it comes back.</source>
   <translation>Tenon 出错了，已停止此回复：请重试，若再次出现请报告。</translation>
  </message>
  <message>
   <location filename="app/bridge/worker.py" />
   <source>Tenon made a mistake here: try again, and report it if it comes back.</source>
   <translation>Tenon 在此出错：请重试；如果再次出现，请报告此问题。</translation>
  </message>
  <message>
   <location filename="app/ui/opener.py" />
   <source>Tenon opens model folders, GGUF files and exported chats, not {name}.</source>
   <translation>Tenon 可打开模型文件夹、GGUF 文件和导出的对话，不能打开 {name}。</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Tenon opens web and mail links only, not this one: {address}</source>
   <translation>Tenon 只打开网页和邮件链接，不能打开：{address}</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>Tenon runs causal models, and this one sets use_bidirectional_attention; choose another model.</source>
   <translation>Tenon 只运行因果模型，而此模型设置了 use_bidirectional_attention；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>Tenon runs models whose layers are alike, and {key} differs between this one's; choose another model.</source>
   <translation>Tenon 只运行各层相同的模型，而此模型各层的 {key} 不同；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>Tenon runs no draft with blocks of the type {model_type}; choose one with Llama's.</source>
   <translation>Tenon 无法运行采用 {model_type} 类型块的草稿；请选择采用 Llama 块的草稿。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>Tenon runs the text part of this model alone: it takes no images and no sound.</source>
   <translation>Tenon 只运行此模型的文本部分：它不接受图像和声音。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>Tenon uses Apple's GPU as it is: there is nothing to fetch.</source>
   <translation>Tenon 直接使用 Apple 的 GPU：无需另行获取。</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Tenon was updated while it was open. Restart it to use the new version.</source>
   <translation>Tenon 在打开时已更新。重新启动即可使用新版本。</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Tenon {latest} is there; this is {own}.</source>
   <translation>已有 Tenon {latest}；当前为 {own}。</translation>
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
   <translation>Tenon 自己的模型</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/highlighting.py" />
   <source>Text</source>
   <translation>文本</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>Text and colours</source>
   <translation>文字和颜色</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Text that the model reads before each conversation, such as its role or a style.</source>
   <translation>模型在每次对话前读到的文字，例如它的角色或文风。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Text that the model reads before the chat; blank for none.</source>
   <translation>模型在聊天前读到的文字；留空则没有。</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>The GGUF file does not say how its tokenizer splits a text (tokenizer.ggml.pre), so replies may be poor: a newer file of this model says it.</source>
   <translation>GGUF 文件没有说明其分词器如何切分文本（tokenizer.ggml.pre），因此回答质量可能不佳：此模型的较新文件中有说明。</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>The GGUF file has no tokenizer: download another file of this model.</source>
   <translation>GGUF 文件没有分词器：请下载此模型的其他文件。</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>The GGUF file names no architecture; choose another file of this model.</source>
   <translation>GGUF 文件未注明架构；请选择此模型的另一个文件。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>The GGUF file {name} is damaged or cut short ({problem}); download it again.</source>
   <translation>GGUF 文件 {name} 已损坏或不完整（{problem}）；请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The GPU and the CPU share one memory, which has no room for what both would need.</source>
   <translation>GPU 与 CPU 共用内存，而内存放不下两者所需的内容。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU has less memory than planned, so the model was loaded differently: {summary}.</source>
   <translation>GPU 的显存少于计划时的容量，因此改用其他方式加载了模型：{summary}。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU ran out of memory, and the model's layers that were there need {needed} GB of memory, of which {free} GB are free: set the GPU memory budget to 0 and ask again.</source>
   <translation>GPU 显存不足，而原在 GPU 上的模型层需要 {needed} GB 内存，可用 {free} GB：请将 GPU 显存预算设为 0 后再问一次。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU ran out of memory, so the model's layers move to the CPU and the reply goes on there in {name} weights.</source>
   <translation>GPU 显存不足，因此模型的层移到 CPU，回复以 {name} 权重在 CPU 上继续。</translation>
  </message>
  <message>
   <location filename="engine/engine.py" />
   <source>The GPU ran out of memory: give it less of the model with a smaller GPU memory budget, or close other programs that use it.</source>
   <translation>GPU 显存不足：请调低 GPU 显存预算，减少放在 GPU 上的模型部分，或关闭使用 GPU 的其他程序。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU stopped working ({reason}), and the model's layers that were there need {needed} GB of memory, of which {free} GB are free: set the GPU memory budget to 0 and ask again.</source>
   <translation>GPU 停止工作（{reason}），而原在 GPU 上的模型层需要 {needed} GB 内存，可用 {free} GB：请将 GPU 显存预算设为 0 后再问一次。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU stopped working ({reason}), so the model was loaded without it: {summary}.</source>
   <translation>GPU 停止工作（{reason}），因此模型在不使用它的情况下加载：{summary}。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The GPU stopped working ({reason}), so the model's layers move to the CPU and the reply goes on there in {name} weights.</source>
   <translation>GPU 停止工作（{reason}），因此模型的层移到 CPU，回复以 {name} 权重在 CPU 上继续。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The GPU's memory ran out</source>
   <translation>GPU 显存不足</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The GPU's memory takes {taken} of the {wanted} layers that were to be there.</source>
   <translation>原定放在 GPU 上的 {wanted} 层中，GPU 显存只放得下 {taken} 层。</translation>
  </message>
  <message>
   <location filename="engine/placement/column_shares.py" />
   <source>The GPU's share of the matrices {kind} is {ratio}, but it must be from 0 to 1.</source>
   <translation>GPU 在矩阵 {kind} 中的份额是 {ratio}，但它必须在 0 到 1 之间。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The access token cannot be kept</source>
   <translation>无法保存访问令牌</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>The address holds a name or a key: leave it out, and give the key by itself.</source>
   <translation>地址中含有用户名或密钥：请去掉，并单独填写密钥。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The address is copied.</source>
   <translation>地址已复制。</translation>
  </message>
  <message>
   <location filename="app/ui/help/page.py" />
   <source>The articles of the help are in English for now.</source>
   <translation>帮助文章目前只有英文。</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The backup of {day} has {chats}: Import chats... takes in those of {path} that are not here.</source>
   <translation>{day} 的备份中有 {chats} 个：用“导入对话...”可从 {path} 导入缺失的对话。</translation>
  </message>
  <message>
   <location filename="app/storage/backup.py" />
   <source>The backup {name} could not be written again.</source>
   <translation>无法重新写入备份 {name}。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The blocks of {name} and their scales do not fit together, so one of them is cut or missing; download the model again.</source>
   <translation>{name} 的数据块与缩放因子不匹配，其中之一被截断或缺失；请重新下载该模型。</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>The built-in model {model} is not here: {other} answers. The page Models has more.</source>
   <translation>内置模型 {model} 不在本机：由 {other} 回答。“模型”页有更多模型。</translation>
  </message>
  <message>
   <location filename="engine/hub/catalogue.py" />
   <source>The catalogue has no {name}, but {names}: give one of its names, or a repository like owner/name.</source>
   <translation>目录中没有 {name}，但有 {names}：请给出目录中的名称，或类似 owner/name 的仓库。</translation>
  </message>
  <message>
   <location filename="engine/hub/catalogue.py" />
   <source>The catalogue has no {name}: give a repository like owner/name, or look with `tenon models search`.</source>
   <translation>目录中没有 {name}：请指定形如 owner/name 的仓库，或用 `tenon models search` 查找。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The certificate of {server} is not trusted by this system: add your company's certificate to the system's store, or name its file in SSL_CERT_FILE.</source>
   <translation>本系统不信任 {server} 的证书：请将公司的证书加入系统证书库，或用 SSL_CERT_FILE 指定其文件。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The certificates cannot be read: check SSL_CERT_FILE and SSL_CERT_DIR.</source>
   <translation>无法读取证书：请检查 SSL_CERT_FILE 和 SSL_CERT_DIR。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>The chat is archived. Search still finds it.</source>
   <translation>对话已归档。仍可搜索到。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The chat template in {name} cannot be used: that in {other} took its place.</source>
   <translation>{name} 中的聊天模板无法使用：已改用 {other} 中的模板。</translation>
  </message>
  <message>
   <location filename="engine/text/preparation.py" />
   <source>The chat template of this model has no such setting for thinking, so it has no effect.</source>
   <translation>此模型的对话模板没有这项思考设置，因此它不起作用。</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats could not be read: the damaged file is kept as {path}, and a new one is begun.</source>
   <translation>无法读取对话：损坏的文件保留为 {path}，并已新建文件。</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats could not be read: they are back as of the backup of {day}, and the damaged file is kept as {path}.</source>
   <translation>无法读取对话：已恢复到 {day} 的备份，损坏的文件保留为 {path}。</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>The chats in {folder} are damaged: restart Tenon, or restore them from a backup.</source>
   <translation>{folder} 中的对话已损坏：请重新启动 Tenon，或从备份恢复。</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>The chats in {folder} cannot be read or written ({reason}): check the disk.</source>
   <translation>无法读写 {folder} 中的对话（{reason}）：请检查磁盘。</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The chats in {folder} come from a newer Tenon: install that version to open them.</source>
   <translation>{folder} 中的对话来自更新版的 Tenon：请安装该版本后打开。</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>The chats were damaged, and no backup has the {count} damaged entries: each says that it is lost. The damaged file is kept as {path}.</source>
   <translation>对话已损坏，且没有备份包含这 {count} 个损坏的条目：每个条目都会注明已丢失。损坏的文件保留为 {path}。</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>The chats were damaged: {back} of {count} damaged entries were restored from the backup of {day}, the others say that they are lost. The damaged file is kept as {path}.</source>
   <translation>对话已损坏：{count} 个损坏的条目中，已从 {day} 的备份恢复 {back} 个，其余条目会注明已丢失。损坏的文件保留为 {path}。</translation>
  </message>
  <message>
   <location filename="app/ui/message_commands.py" />
   <source>The code is copied.</source>
   <translation>代码已复制。</translation>
  </message>
  <message>
   <location filename="app/bridge/power_watch.py" />
   <source>The computer is hot: replies may be slower until it has cooled down.</source>
   <translation>电脑过热：冷却之前回复可能较慢。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>The config asks for {wanted} layers, heads and experts with weights of their own, and the files hold {found} tensors: put the files of one model together, or choose another one.</source>
   <translation>配置要求 {wanted} 个带有自身权重的层、头和专家，而文件中只有 {found} 个张量：请把同一模型的文件放在一起，或选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The connection to the hub broke off: check the network, and try again.</source>
   <translation>与 Hub 的连接中断：请检查网络后重试。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The connection to the package index broke off: check the network, and try again.</source>
   <translation>与软件包索引的连接中断：请检查网络后重试。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The connection to {server} broke off before the reply was complete: try again.</source>
   <translation>回复完成之前与 {server} 的连接中断：请重试。</translation>
  </message>
  <message>
   <location filename="engine/planning/context_range.py" />
   <source>The context is {context} tokens, but this model takes {least} to {context_length}: choose a length between these, or none for the model's own.</source>
   <translation>上下文为 {context} 个 token，而此模型接受 {least} 到 {context_length} 个：请选择此范围内的长度，或不指定而使用模型自带的长度。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The copy of {name} is not the same: check the disk of {folder}.</source>
   <translation>{name} 的副本与原文件不一致：请检查 {folder} 所在的磁盘。</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>The details of this installation are copied.</source>
   <translation>本安装的详情已复制。</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>The disk that holds {folder} is full: free some space, or new messages are not saved.</source>
   <translation>{folder} 所在的磁盘已满：请腾出空间，否则新消息不会保存。</translation>
  </message>
  <message>
   <location filename="engine/hub/download/download_queue.py" />
   <source>The download failed ({name}: {error}): try again.</source>
   <translation>下载失败（{name}：{error}）：请重试。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The download is not what it should be</source>
   <translation>下载的内容不符</translation>
  </message>
  <message>
   <location filename="engine/hub/download/room.py" />
   <source>The download needs {needed} and {reserve} should stay free, but the disk of {folder} has {free}: free some room, or move Tenon's data to another disk with TENON_DATA_DIR.</source>
   <translation>下载需要 {needed}，还应留出 {reserve}，而 {folder} 所在的磁盘可用 {free}：请腾出空间，或用 TENON_DATA_DIR 将 Tenon 的数据移到其他磁盘。</translation>
  </message>
  <message>
   <location filename="engine/hub/download/room.py" />
   <source>The download needs {needed}, {queued} are queued before it and {reserve} should stay free, but the disk of {folder} has {free}: free some room, or move Tenon's data to another disk with TENON_DATA_DIR.</source>
   <translation>下载需要 {needed}，排在它之前的下载需要 {queued}，还应留出 {reserve}，而 {folder} 所在的磁盘可用 {free}：请腾出空间，或用 TENON_DATA_DIR 将 Tenon 的数据移到其他磁盘。</translation>
  </message>
  <message>
   <location filename="engine/hub/download/stop.py" />
   <source>The download was stopped.</source>
   <translation>下载已停止。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The draft does not fit the model</source>
   <translation>草稿与模型不匹配</translation>
  </message>
  <message>
   <location filename="engine/weights/head_checkpoint.py" />
   <source>The draft in {folder} is damaged: {tensor} holds numbers that are infinite or none (NaN). Download it again, or choose another draft.</source>
   <translation>{folder} 中的草稿模型已损坏：{tensor} 含有无穷大或非数值（NaN）的数。请重新下载，或选择其他草稿模型。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft is for a model with a vocabulary of {vocabulary_size}, and this model's has {wanted}; choose a draft that was made for this model.</source>
   <translation>草稿适用于词表大小为 {vocabulary_size} 的模型，而此模型的词表大小为 {wanted}；请选择为此模型制作的草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft is for a model with hidden size {target_hidden_size}, and this model's is {hidden_size}; choose a draft that was made for this model.</source>
   <translation>草稿适用于隐藏维度为 {target_hidden_size} 的模型，而此模型的隐藏维度为 {hidden_size}；请选择为此模型制作的草稿。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The draft needs {needed} GB of the GPU's memory and may take {budget} GB, so it runs on the CPU.</source>
   <translation>草稿需要 {needed} GB GPU 显存，而最多可占用 {budget} GB，因此在 CPU 上运行。</translation>
  </message>
  <message>
   <location filename="engine/drafting/fallback_drafter.py" />
   <source>The draft ran out of memory, so the reply goes on without it.</source>
   <translation>草稿内存不足，因此回复将不用草稿继续。</translation>
  </message>
  <message>
   <location filename="engine/drafting/assistant_network.py" />
   <source>The draft reads keys of the shape {heads} x {width}, and this model has none; choose a draft that was made for this model.</source>
   <translation>该草稿读取形状为 {heads} x {width} 的键，而此模型没有这样的键；请选择为此模型制作的草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/assistant_network.py" />
   <source>The draft reads the keys and values of a Gemma 4 model, and this one is of the family {family}; choose a draft that was made for this model.</source>
   <translation>该草稿读取 Gemma 4 模型的键和值，而此模型属于 {family} 系列；请选择为此模型制作的草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft reads the layers {names} of a model, and this one has {layers}; choose a draft that was made for this model.</source>
   <translation>草稿要读取模型的第 {names} 层，而此模型有 {layers} 层；请选择为此模型制作的草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/fallback_drafter.py" />
   <source>The draft stopped working, so the reply goes on without it ({reason}).</source>
   <translation>草稿停止工作，因此回复将不用草稿继续（{reason}）。</translation>
  </message>
  <message>
   <location filename="engine/text/pairing.py" />
   <source>The draft was made for another vocabulary: token {token_id} is missing in the model and {theirs} in the draft; choose a draft of the same family.</source>
   <translation>草稿是为另一个词表制作的：token {token_id} 在模型中缺失，在草稿中为 {theirs}；请选择同系列的草稿。</translation>
  </message>
  <message>
   <location filename="engine/text/pairing.py" />
   <source>The draft was made for another vocabulary: token {token_id} is {ours} in the model and missing in the draft; choose a draft of the same family.</source>
   <translation>草稿是为另一个词表制作的：token {token_id} 在模型中为 {ours}，在草稿中缺失；请选择同系列的草稿。</translation>
  </message>
  <message>
   <location filename="engine/text/pairing.py" />
   <source>The draft was made for another vocabulary: token {token_id} is {ours} in the model and {theirs} in the draft; choose a draft of the same family.</source>
   <translation>草稿是为另一个词表制作的：token {token_id} 在模型中为 {ours}，在草稿中为 {theirs}；请选择同系列的草稿。</translation>
  </message>
  <message>
   <location filename="engine/planning/model_planner.py" />
   <source>The draft {draft} is named twice: name each draft once.</source>
   <translation>草稿 {draft} 被指定了两次：每个草稿只指定一次。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_config.py" />
   <source>The draft's config.json describes no transformer layer; choose another draft.</source>
   <translation>草稿的 config.json 没有描述 Transformer 层；请选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/config_keys.py" />
   <source>The draft's config.json has {keys}, which Tenon does not know and which may change what the draft computes; choose another draft, or take that out if it says nothing about the computation.</source>
   <translation>草稿的 config.json 含有 {keys}，Tenon 不认识它，而它可能改变草稿的计算；请选择另一个草稿，或者在它与计算无关时把它删去。</translation>
  </message>
  <message>
   <location filename="engine/drafting/config_keys.py" />
   <source>The draft's config.json says {key} = {value}, which Tenon does not run; choose another draft.</source>
   <translation>草稿的 config.json 中写着 {key} = {value}，Tenon 不能运行它；请选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft's d2t and t2d disagree about which of the model's tokens it drafts; choose another draft.</source>
   <translation>草稿的 d2t 和 t2d 对它能起草模型的哪些 token 说法不一；请选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft's d2t names tokens that the model does not have, or one twice: it should hold what is added to the draft's own numbers; choose another draft.</source>
   <translation>草稿的 d2t 指向模型没有的 token，或者同一个 token 出现两次：它应当存放加到草稿自身编号上的数；请选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_loader.py" />
   <source>The draft's hidden size is {hidden_size} and the model's {wanted}, so it needs an embedding and a head of its own; choose another draft.</source>
   <translation>草稿的隐藏维度为 {hidden_size}，模型的为 {wanted}，因此草稿需要自己的嵌入层和输出头；请选择其他草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_layout.py" />
   <source>The draft's tensors are not those of any layout that Tenon reads, as its config.json has it: {problems}; choose another draft.</source>
   <translation>按照 config.json，草稿的张量不属于 Tenon 能读取的任何布局：{problems}；请选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/fallback_drafter.py" />
   <source>The draft's weights are damaged, so the reply goes on without it: download it again, or choose another one.</source>
   <translation>草稿模型的权重已损坏，回复将在没有它的情况下继续：请重新下载，或选择其他草稿模型。</translation>
  </message>
  <message>
   <location filename="engine/drafting/assistant_network.py" />
   <source>The draft's {name} does not name each token once; choose another draft.</source>
   <translation>草稿的 {name} 没有恰好列出每个 token 一次；请选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>The engine could not be started ({reason}): close other programs.</source>
   <translation>无法启动引擎（{reason}）：请关闭其他程序。</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_watch.py" />
   <source>The engine neither computed nor answered, so it was ended and started again.</source>
   <translation>引擎既没有计算也没有应答，因此已被结束并重新启动。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The engine stopped</source>
   <translation>引擎已停止</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>The engine stopped unexpectedly ({how}). Your chats are safe; it starts again with your next message.</source>
   <translation>引擎意外停止（{how}）。对话是安全的；下一条消息会重新启动它。</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>The engine waits for a disk or a device that does not answer, and cannot be ended: restart the computer if this happens again.</source>
   <translation>引擎正在等待没有应答的磁盘或设备，无法结束：如果再次发生，请重启计算机。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} in it is no list of objects.</source>
   <translation>其中的字段 {name} 不是对象列表。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} in it is no text.</source>
   <translation>其中的字段 {name} 不是文本。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/fields.py" />
   <source>The field {name} is missing in a message in it, or there twice.</source>
   <translation>其中某条消息缺少字段 {name}，或该字段重复。</translation>
  </message>
  <message>
   <location filename="engine/placement/from_disk.py" />
   <source>The file of the model's weights that Tenon made is damaged, so this reply ends here: ask again, and Tenon makes the file anew.</source>
   <translation>Tenon 生成的模型权重文件已损坏，因此此回复到此为止：请再问一次，Tenon 会重新生成该文件。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>The file says what is in force already.</source>
   <translation>文件内容与当前设置相同。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The file was not imported</source>
   <translation>文件未导入</translation>
  </message>
  <message>
   <location filename="engine/drafting/medusa_draft.py" />
   <source>The file {file} beside the heads {name} is damaged or was made for other heads, so their tree is not used: search one with `tenon train tree`.</source>
   <translation>草稿头 {name} 旁的文件 {file} 已损坏或属于其他草稿头，因此不使用其中的树：请用 `tenon train tree` 搜索一棵。</translation>
  </message>
  <message>
   <location filename="engine/placement/from_disk.py" />
   <source>The file {name} was changed while it was in use: ask again.</source>
   <translation>文件 {name} 在使用期间被更改：请再问一次。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The folder {folder} holds PyTorch files, and Tenon needs {single} (or shards and their index); download the model in safetensors format or as a GGUF file.</source>
   <translation>文件夹 {folder} 中是 PyTorch 文件，而 Tenon 需要 {single}（或分片及其索引）；请下载 safetensors 格式的模型或 GGUF 文件。</translation>
  </message>
  <message>
   <location filename="engine/planning/model_facts.py" />
   <source>The folder {folder} holds a draft head and not a whole model: choose the model that it was made for, and name this folder as its draft.</source>
   <translation>文件夹 {folder} 中是草稿头，不是完整模型：请选择它所适用的模型，并将此文件夹指定为该模型的草稿。</translation>
  </message>
  <message>
   <location filename="engine/drafting/head_layout.py" />
   <source>The folder {folder} holds a whole model and no draft head: choose a folder with an EAGLE, Dovetail or speculators head.</source>
   <translation>文件夹 {folder} 中是完整模型，没有草稿头：请选择含有 EAGLE、Dovetail 或 speculators 草稿头的文件夹。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The folder {folder} holds no weights, and Tenon needs {single} (or shards and their index); download the model in safetensors format or as a GGUF file.</source>
   <translation>文件夹 {folder} 中没有权重，而 Tenon 需要 {single}（或分片及其索引）；请下载 safetensors 格式的模型或 GGUF 文件。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The folder {folder} holds safetensors but neither {single} nor {index}, and Tenon needs {single} (or shards and their index); download the model in safetensors format or as a GGUF file.</source>
   <translation>文件夹 {folder} 中有 safetensors，但既没有 {single}，也没有 {index}，而 Tenon 需要 {single}（或分片及其索引）；请下载 safetensors 格式的模型或 GGUF 文件。</translation>
  </message>
  <message>
   <location filename="engine/gguf/parts.py" />
   <source>The folder {path} holds {found} GGUF models ({names}): give the file and not the folder.</source>
   <translation>文件夹 {path} 中有 {found} 个 GGUF 模型（{names}）：请指定文件，而不是文件夹。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>The folder “{name}” is deleted, its chats are kept.</source>
   <translation>文件夹“{name}”已删除，其中的对话保留。</translation>
  </message>
  <message>
   <location filename="engine/text/output_form.py" />
   <source>The form of the reply cannot be used ({reason}): correct it.</source>
   <translation>回复的格式无法使用（{reason}）：请更正。</translation>
  </message>
  <message>
   <location filename="engine/text/output_form.py" />
   <source>The form of the reply has {length} characters, but it may have {most}: make it smaller.</source>
   <translation>回复格式有 {length} 个字符，但最多允许 {most} 个：请缩小它。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The frequency penalty is {value}, but it must be between -2 and 2.</source>
   <translation>频率惩罚为 {value}，而它必须在 -2 到 2 之间。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>The hardest questions and longer programs.</source>
   <translation>最难的问题和较长的程序。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub answered {status} for {repo}: try again later, or check HF_ENDPOINT and the proxy.</source>
   <translation>Hub 对 {repo} 返回 {status}：请稍后再试，或检查 HF_ENDPOINT 和代理。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub asks for a pause of {minutes} minutes: resume the download then.</source>
   <translation>Hub 要求暂停 {minutes} 分钟：请到时再继续下载。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub asks for a pause: try again in a few minutes.</source>
   <translation>Hub 要求暂停：请过几分钟再试。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub cannot be reached</source>
   <translation>无法连接 Hub</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub did not answer in time: check the network, and try again.</source>
   <translation>Hub 未及时应答：请检查网络后重试。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub did not give what was asked for</source>
   <translation>Hub 未提供所请求的内容</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub does not accept the access token, or {repo} does not exist: check the name at {page}, or keep a new token with `tenon models token`.</source>
   <translation>Hub 不接受该访问令牌，或 {repo} 不存在：请在 {page} 检查名称，或用 `tenon models token` 保存新令牌。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub does not have it</source>
   <translation>Hub 上没有</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub gives no access</source>
   <translation>Hub 拒绝访问</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub has no {repo}, or hides it from you: check the name, or keep an access token with `tenon models token` if it is private.</source>
   <translation>Hub 上没有 {repo}，或 Hub 将其隐藏：请检查名称；若它是私有的，请用 `tenon models token` 保存访问令牌。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub has trouble ({status}): try again in a few minutes.</source>
   <translation>Hub 出现故障（{status}）：请过几分钟再试。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The hub is busy</source>
   <translation>Hub 繁忙</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub refuses access to {repo}: check at {page} whether your account may read it.</source>
   <translation>Hub 拒绝访问 {repo}：请在 {page} 检查账号是否有权读取。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub sends every request on to another address without end: check HF_ENDPOINT and the proxy.</source>
   <translation>Hub 不断将请求转到其他地址：请检查 HF_ENDPOINT 和代理。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub that models come from cannot be reached: check the network, and the proxy or mirror (HF_ENDPOINT) if you use one.</source>
   <translation>无法连接提供模型的 Hub：请检查网络，以及所用的代理或镜像 (HF_ENDPOINT)。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub's address cannot be used ({error}): check HF_ENDPOINT.</source>
   <translation>无法使用 Hub 的地址（{error}）：请检查 HF_ENDPOINT。</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>The hub's address {endpoint} is none: HF_ENDPOINT must look like https://huggingface.co.</source>
   <translation>Hub 的地址 {endpoint} 无效：HF_ENDPOINT 的格式应如 https://huggingface.co。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The hub's certificate is not trusted by this system: add your company's certificate to the system's store, or name its file in SSL_CERT_FILE.</source>
   <translation>此系统不信任 Hub 的证书：请将公司的证书添加到系统证书库，或在 SSL_CERT_FILE 中指定证书文件。</translation>
  </message>
  <message>
   <location filename="engine/remote/probe.py" />
   <source>The key and your words go to {server} unencrypted, so whoever is on the network between can read them: use an address that begins with https, or a tunnel such as ssh -L.</source>
   <translation>密钥和您的文字未经加密发送到 {server}，网络中间的任何人都能读到：请使用以 https 开头的地址，或 ssh -L 之类的隧道。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The key in use opens nothing any more</source>
   <translation>当前的密钥将失效</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The key is copied.</source>
   <translation>密钥已复制。</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>The key is kept in the system's keyring and sent to this address alone.</source>
   <translation>密钥保存在系统的密钥环中，只会发送到此地址。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>The large one of the two; it needs some 64 GB, or a fast disk and patience.</source>
   <translation>两者中较大的一个；需要约 64 GB 内存，或快速磁盘和耐心。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>The largest Gemma, for computers with 32 GB and patience.</source>
   <translation>最大的 Gemma，适合有 32 GB 内存且愿意等待的电脑。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>The largest of its family: multilingual, good at longer tasks and tools, with a long context.</source>
   <translation>同系列中最大的模型：支持多种语言，擅长较长的任务和工具，上下文很长。</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>The last changes to the chats are missing: {now} chats are here, and {before} were when Tenon ran last.</source>
   <translation>对话的最近更改已丢失：现有 {now} 个对话，而上次运行 Tenon 时有 {before} 个。</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>The limit of tokens is {max_tokens}, but it must be at least 1.</source>
   <translation>token 上限为 {max_tokens}，而它至少应为 1。</translation>
  </message>
  <message>
   <location filename="app/bridge/models/folders.py" />
   <source>The list of folders cannot be written ({reason}).</source>
   <translation>无法写入文件夹列表（{reason}）。</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>The list of servers cannot be written ({reason}).</source>
   <translation>无法写入服务器列表（{reason}）。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>The machine is being looked at</source>
   <translation>正在查看本机</translation>
  </message>
  <message>
   <location filename="engine/engine.py" />
   <source>The machine ran out of memory: close other programs, or choose a smaller model or context.</source>
   <translation>本机内存不足：请关闭其他程序，或选择较小的模型或上下文。</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>The memory budget is {size} GB from now on.</source>
   <translation>内存预算现为 {size} GB。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The memory budget of {budget_bytes} is too small: Tenon itself takes {own_bytes}, and the model {needs}. Set the budget to {enough} or more, or choose a smaller model.</source>
   <translation>内存预算 {budget_bytes} 太小：Tenon 自身占用 {own_bytes}，模型需要 {needs}。请将预算设为 {enough} 或更多，或选择较小的模型。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The message does not fit the context of the model on the server: shorten it.</source>
   <translation>消息超出了服务器上模型的上下文：请缩短它。</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>The message holds bytes that are not UTF-8 text: convert it to UTF-8 first.</source>
   <translation>消息中有不是 UTF-8 文本的字节：请先将其转换为 UTF-8。</translation>
  </message>
  <message>
   <location filename="engine/remote/remote_reply.py" />
   <source>The message is about {prompt} tokens long, but the model's context on the server holds {context}: shorten it.</source>
   <translation>消息长约 {prompt} 个 token，但服务器上模型的上下文只能容纳 {context} 个：请缩短它。</translation>
  </message>
  <message>
   <location filename="app/ui/turn_requests.py" />
   <source>The message is deleted.</source>
   <translation>消息已删除。</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>The message is empty: write a question first.</source>
   <translation>消息为空：请先写下问题。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The message is longer than the context</source>
   <translation>消息超出上下文</translation>
  </message>
  <message>
   <location filename="engine/text/context_window.py" />
   <source>The message is more than {prompt_tokens} tokens long, but the model's context holds {context}: shorten it, or load the model with a larger context if it has one.</source>
   <translation>消息超过 {prompt_tokens} 个词元，但模型的上下文只能容纳 {context} 个：请缩短消息，或在模型支持时用更大的上下文加载它。</translation>
  </message>
  <message>
   <location filename="engine/text/context_window.py" />
   <source>The message is {prompt_tokens} tokens long, but the model's context holds {context}: shorten it, or load the model with a larger context if it has one.</source>
   <translation>消息有 {prompt_tokens} 个词元，但模型的上下文只能容纳 {context} 个：请缩短消息，或在模型支持时以更大的上下文加载模型。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The message is {prompt} tokens long, but the model's context on the server holds {context}: shorten it.</source>
   <translation>消息长 {prompt} 个 token，但服务器上模型的上下文只能容纳 {context} 个：请缩短它。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The message takes too much to prepare</source>
   <translation>准备这条消息的开销过大</translation>
  </message>
  <message>
   <location filename="app/bridge/turns.py" />
   <source>The message that this reply answers was deleted: write a new one.</source>
   <translation>此回复所答的消息已删除：请写一条新的。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The min-p is {value}, but it must be between 0 and 1.</source>
   <translation>Min p 为 {value}，而它必须在 0 到 1 之间。</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>The mode that is predicted to be fastest</source>
   <translation>预测最快的模式</translation>
  </message>
  <message>
   <location filename="engine/planning/planner.py" />
   <source>The mode was chosen automatically, because {mode} cannot run.</source>
   <translation>已自动选择模式，因为 {mode} 模式无法运行。</translation>
  </message>
  <message>
   <location filename="engine/planning/planner.py" />
   <source>The mode {mode} cannot run.</source>
   <translation>{mode} 模式无法运行。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model cannot be read</source>
   <translation>无法读取模型</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model cannot be used</source>
   <translation>无法使用模型</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The model computes numbers that are infinite or none (NaN), so its weights are damaged: download it again, or use another one.</source>
   <translation>该模型算出了无穷大或非数值（NaN），说明其权重已损坏：请重新下载，或使用其他模型。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model could not be read from the disk</source>
   <translation>无法从磁盘读取模型</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model does not match its description</source>
   <translation>模型与其描述不符</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer_folder.py" />
   <source>The model folder {folder} has a vocab.json, but Tenon does not know how its tokenizer splits a text: copy the model's tokenizer.json there.</source>
   <translation>模型文件夹 {folder} 中有 vocab.json，但 Tenon 不知道其分词器如何切分文本：请将该模型的 tokenizer.json 复制到那里。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer_folder.py" />
   <source>The model folder {folder} has no tokenizer: copy tokenizer.json there, or download the model again.</source>
   <translation>模型文件夹 {folder} 中没有分词器：请将 tokenizer.json 复制到那里，或重新下载模型。</translation>
  </message>
  <message>
   <location filename="app/ui/continue_line.py" />
   <source>The model goes on with your text.</source>
   <translation>模型会接着您的文本写下去。</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>The model in memory leaves it first and comes back afterwards.</source>
   <translation>内存中的模型会先离开内存，之后再重新加载。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>The model is being loaded.</source>
   <translation>正在加载模型。</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed.py" />
   <source>The model is larger than the memory it may take, so {layers} of its {all} layers ({size} GB) are read from the disk for each token or draft, which takes about {seconds} s.</source>
   <translation>模型大于可用内存，因此每个 token 或每次草稿都要从磁盘读取 {all} 层中的 {layers} 层（{size} GB），约需 {seconds} 秒。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/dialog.py" />
   <source>The model is loaded again, which took {seconds} s the last time.</source>
   <translation>模型会重新加载，上次用了 {seconds} 秒。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model is not there</source>
   <translation>模型不存在</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The model needs {needs}, but free are {budget}: close other programs, or choose a smaller model, smaller weights or a smaller context.</source>
   <translation>模型需要 {needs}，而可用 {budget}：请关闭其他程序，或选择较小的模型、较小的权重或较小的上下文。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The model runs on the CPU alone.</source>
   <translation>模型只在 CPU 上运行。</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>The model {name}, which ships with Tenon, is not in {folder}: get a model on the page Models or with `tenon models get`, or in a checkout run `make model`.</source>
   <translation>随 Tenon 提供的模型 {name} 不在 {folder} 中：请在“模型”页或用 `tenon models get` 获取模型，或在源码目录中运行 `make model`。</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>The model {reference} cannot be looked up ({reason}): check its name and the rights to its folder.</source>
   <translation>无法查找模型 {reference}（{reason}）：请检查其名称及其文件夹的权限。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template cannot be read, so the conversation is given to it as plain text.</source>
   <translation>无法读取该模型的对话模板，因此对话以纯文本形式交给它。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template cannot be read: that of {family} took its place.</source>
   <translation>无法读取该模型的对话模板：已改用 {family} 的模板。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template leaves out what you write, so the conversation is given to it as plain text.</source>
   <translation>该模型的对话模板会漏掉您写的内容，因此对话以纯文本形式交给它。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template leaves out what you write: that of {family} took its place.</source>
   <translation>该模型的对话模板会漏掉您写的内容：已改用 {family} 的模板。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template refuses this conversation: start a new chat, or use another model.</source>
   <translation>模型的对话模板不接受此对话：请开始新对话，或使用其他模型。</translation>
  </message>
  <message>
   <location filename="engine/text/chat_template.py" />
   <source>The model's chat template takes too much time or memory, so it was ended: use another model, or another file of this one.</source>
   <translation>模型的对话模板占用过多时间或内存，已将其结束：请使用其他模型，或此模型的其他文件。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>The model's chat template turns this conversation into an empty text: use another model.</source>
   <translation>模型的对话模板将此对话变成了空文本：请使用其他模型。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>The model's config asks for {chosen} experts per token where there are {experts}; choose another model.</source>
   <translation>模型配置要求每个 token 使用 {chosen} 个专家，而只有 {experts} 个：请选择另一个模型。</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>The model's name is empty: give a folder, a GGUF file, an installed model's name, or {default}.</source>
   <translation>模型名称为空：请指定文件夹、GGUF 文件、已安装模型的名称，或 {default}。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model's tokenizer cannot be read</source>
   <translation>无法读取模型的分词器</translation>
  </message>
  <message>
   <location filename="engine/text/sentence_piece.py" />
   <source>The model's tokenizer.model is of a kind that Tenon does not know: copy its tokenizer.json there.</source>
   <translation>该模型的 tokenizer.model 属于 Tenon 不认识的类型：请将其 tokenizer.json 复制到那里。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The model's weights are damaged</source>
   <translation>模型的权重已损坏</translation>
  </message>
  <message>
   <location filename="engine/placement/from_disk.py" />
   <source>The model's weights could not be read from the disk any more, so this reply ends here: check that the disk is connected, then ask again.</source>
   <translation>无法再从磁盘读取模型的权重，因此此回复到此为止：请检查磁盘是否已连接，然后再问一次。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The models are being moved already: wait for that.</source>
   <translation>正在移动模型：请等它完成。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The models are in {target} already.</source>
   <translation>模型已在 {target} 中。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The models changed again and again while they were copied: move them again.</source>
   <translation>复制期间模型一再发生变化：请重新移动。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>The models were moved to {folder} meanwhile: try again.</source>
   <translation>模型已被移动到 {folder}：请重试。</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>The name {path} is too long for this system: choose a shorter one.</source>
   <translation>名称 {path} 对此系统来说过长：请选择较短的名称。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The number of layers on the GPU is {wanted}, but it must be at least 0.</source>
   <translation>GPU 上的层数为 {wanted}，而它至少应为 0。</translation>
  </message>
  <message>
   <location filename="engine/loaded_model.py" />
   <source>The number of threads is {threads}, but it must be between 1 and 1024.</source>
   <translation>线程数为 {threads}，而它必须在 1 到 1024 之间。</translation>
  </message>
  <message numerus="yes">
   <location filename="app/chat/reply.py" />
   <source>The oldest %n message(s) were left out, because the chat is longer than the model's context.</source>
   <translation>
    <numerusform>对话超出模型的上下文，已略去最早的 %n 条消息。</numerusform>
   </translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index answered {status} for {repo}: check its address and the proxy.</source>
   <translation>软件包索引对 {repo} 返回 {status}：请检查其地址和代理。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index asks for a pause of {minutes} minutes: resume the download then.</source>
   <translation>软件包索引要求暂停 {minutes} 分钟：请到时再继续下载。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index asks for a pause: try again in a few minutes.</source>
   <translation>软件包索引要求暂停：请过几分钟再试。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index cannot be reached: check the network, the proxy and its address.</source>
   <translation>无法连接软件包索引：请检查网络、代理和索引的地址。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_choice.py" />
   <source>The package index contradicts itself about {name}: try another one, or later.</source>
   <translation>软件包索引中关于 {name} 的信息自相矛盾：请换一个索引，或稍后再试。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index did not answer in time: check the network, and try again.</source>
   <translation>软件包索引未及时应答：请检查网络后重试。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index does not say how large {url} is: give another one.</source>
   <translation>软件包索引未说明 {url} 的大小：请指定其他索引。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index gave another part of a file than was asked for: try again.</source>
   <translation>软件包索引返回的文件部分与所请求的不符：请重试。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_choice.py" />
   <source>The package index gives no SHA-256 for {file_name}, so it could not be checked: give another index.</source>
   <translation>软件包索引未提供 {file_name} 的 SHA-256，因此无法校验：请指定其他索引。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index gives no parts of files: give another one.</source>
   <translation>软件包索引不支持分段获取文件：请指定其他索引。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installation.py" />
   <source>The package index has no torch {version} with {names} for this system and Python ({python}): Tenon goes on without the GPU.</source>
   <translation>软件包索引中没有适用于此系统和 Python（{python}）、带 {names} 的 torch {version}：Tenon 将不使用 GPU 继续运行。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index has no {repo} any more: look again.</source>
   <translation>软件包索引中已没有 {repo}：请再查一次。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_choice.py" />
   <source>The package index has no {wanted} for this system and Python {python_version}: try another one, or later.</source>
   <translation>软件包索引中没有适用于此系统和 Python {python_version} 的 {wanted}：请换一个索引，或稍后再试。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index has trouble ({status}): try again in a few minutes.</source>
   <translation>软件包索引出现故障（{status}）：请过几分钟再试。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index sends every request on to another address without end: check its address and the proxy.</source>
   <translation>软件包索引不断将请求转到其他地址：请检查其地址和代理。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index's address cannot be used ({error}): check its address.</source>
   <translation>无法使用软件包索引的地址（{error}）：请检查该地址。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The package index's certificate is not trusted by this system: add your company's certificate to the system's store, or name its file in SSL_CERT_FILE.</source>
   <translation>此系统不信任软件包索引的证书：请将公司的证书添加到系统证书库，或在 SSL_CERT_FILE 中指定证书文件。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>The part that does not fit on the GPU must be in memory, and {free_bytes} are free there.</source>
   <translation>GPU 上放不下的部分必须放入内存，而内存可用 {free_bytes}。</translation>
  </message>
  <message>
   <location filename="engine/gguf/model.py" />
   <source>The parts of {path} hold the same tensor twice, so they are not of one model; put the right ones together.</source>
   <translation>{path} 的各分片中有重复的张量，因此不属于同一个模型；请把正确的分片放在一起。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>The plan is being made. While a reply runs it waits for its end.</source>
   <translation>正在制定方案。若有回复在进行，会等它结束。</translation>
  </message>
  <message>
   <location filename="engine/server/serving.py" />
   <source>The port is {port}, but it must be between 0 (any) and 65535.</source>
   <translation>端口为 {port}，但必须介于 0（任意）和 65535 之间。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The presence penalty is {value}, but it must be between -2 and 2.</source>
   <translation>存在惩罚为 {value}，而它必须在 -2 到 2 之间。</translation>
  </message>
  <message>
   <location filename="engine/preparer.py" />
   <source>The process that prepares requests cannot be started ({reason}): close other programs.</source>
   <translation>无法启动准备请求的进程（{reason}）：请关闭其他程序。</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>The prompt tokens are for a model of {wanted_layers} layers and {wanted_heads} attention heads, and this one has {layers} and {heads}; choose a set that was trained for this model.</source>
   <translation>这些提示词元用于有 {wanted_layers} 层和 {wanted_heads} 个注意力头的模型，而此模型有 {layers} 层和 {heads} 个：请选择为此模型训练的一组。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The proxy cannot be used: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, which must look like http://host:port.</source>
   <translation>无法使用代理：请检查 HTTPS_PROXY、HTTP_PROXY 和 ALL_PROXY，格式应为 http://host:port。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>The proxy refuses the way to the hub: check HTTPS_PROXY.</source>
   <translation>代理拒绝连接到 Hub：请检查 HTTPS_PROXY。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>The proxy refuses the way to the package index: check HTTPS_PROXY.</source>
   <translation>代理拒绝连接到软件包索引：请检查 HTTPS_PROXY。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>The proxy refuses the way to {server}: check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.</source>
   <translation>代理拒绝连接 {server}：请检查 HTTPS_PROXY、HTTP_PROXY 和 NO_PROXY。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The repetition penalty is {value}, but it must be between 0.01 and 100.</source>
   <translation>重复惩罚为 {value}，而它必须在 0.01 到 100 之间。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The repetition penalty looks at the last {value} tokens, but it must be 1 at least.</source>
   <translation>重复惩罚查看最后 {value} 个词元，但至少必须为 1。</translation>
  </message>
  <message>
   <location filename="app/chat/reply.py" />
   <source>The reply failed.</source>
   <translation>回复失败。</translation>
  </message>
  <message>
   <location filename="app/ui/announcements.py" />
   <source>The reply is finished.</source>
   <translation>回复已完成。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The reply was cut off</source>
   <translation>回复被截断</translation>
  </message>
  <message>
   <location filename="app/ui/announcements.py" />
   <source>The reply was cut off.</source>
   <translation>回复被截断。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The reply was stopped</source>
   <translation>回复已停止</translation>
  </message>
  <message>
   <location filename="app/chat/reply.py" />
   <source>The reply was stopped, because it began to repeat itself.</source>
   <translation>回复开始重复，因此已停止。</translation>
  </message>
  <message>
   <location filename="app/ui/announcements.py" />
   <source>The reply was stopped.</source>
   <translation>回复已停止。</translation>
  </message>
  <message>
   <location filename="engine/engine.py" />
   <source>The request was stopped.</source>
   <translation>请求已停止。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>The same seed gives the same reply to the same chat.</source>
   <translation>相同的种子在相同的对话中给出相同的回复。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The seed is {value}, but it must be a whole number between 0 and 2**64 - 1.</source>
   <translation>种子为 {value}，而它必须是 0 到 2**64 - 1 之间的整数。</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>The server at {endpoint} is no hub: check HF_ENDPOINT, the proxy, or a sign-in page of the network.</source>
   <translation>{endpoint} 处的服务器不是 Hub：请检查 HF_ENDPOINT、代理，或网络的登录页。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server cannot be reached</source>
   <translation>无法连接服务器</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server did not give what was asked for</source>
   <translation>服务器没有给出所请求的内容</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server gives no access</source>
   <translation>服务器拒绝访问</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server is busy</source>
   <translation>服务器繁忙</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The server is off.</source>
   <translation>服务器已关闭。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server's key cannot be kept</source>
   <translation>无法保存服务器的密钥</translation>
  </message>
  <message>
   <location filename="engine/server/key.py" />
   <source>The server's key must be {least} or more letters, digits or signs without spaces: choose another, or leave it to Tenon to make one.</source>
   <translation>服务器密钥须由至少 {least} 个字母、数字或符号组成，不含空格：请换一个，或让 Tenon 生成。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>The server's reply broke off</source>
   <translation>服务器的回复中断</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>The settings for {program} are copied, with the key.</source>
   <translation>{program} 的设置已复制，包含密钥。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>The settings in force are saved as {file}.</source>
   <translation>当前设置已保存为 {file}。</translation>
  </message>
  <message>
   <location filename="app/settings/settings_file.py" />
   <source>The settings in {path} cannot be read ({reason}).</source>
   <translation>无法读取 {path} 中的设置（{reason}）。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>The speeds of the machine are measured first, in some seconds.</source>
   <translation>先测量本机速度，需数秒。</translation>
  </message>
  <message>
   <location filename="app/ui/shown_folder.py" />
   <source>The system could not open it. The folder is {folder}</source>
   <translation>系统无法打开。文件夹为 {folder}</translation>
  </message>
  <message>
   <location filename="engine/placement/copies.py" />
   <source>The system does not let Tenon pin {size_bytes} MB more of the host's memory for copies to the GPU: raise the limit (ulimit -l), or choose the mode offload.</source>
   <translation>系统不允许 Tenon 再锁定 {size_bytes} MB 主机内存用于向 GPU 复制：请提高限制 (ulimit -l)，或选择 offload 模式。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The temperature is {value}, but it must be between 0 and 100.</source>
   <translation>温度为 {value}，而它必须在 0 到 100 之间。</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>The tensor {name} is stored as {dtype}, and Tenon reads {names}; choose an unquantized version of this model.</source>
   <translation>张量 {name} 以 {dtype} 存储，而 Tenon 可读取 {names}；请选择此模型未量化的版本。</translation>
  </message>
  <message>
   <location filename="engine/gguf/model.py" />
   <source>The tensor {name} is stored as {kind}, which Tenon cannot read; choose another quantization of this model, such as Q4_K_M or Q8_0.</source>
   <translation>张量 {name} 以 {kind} 存储，Tenon 无法读取；请选择此模型的其他量化版本，例如 Q4_K_M 或 Q8_0。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>The tensor {name} of {file} is of the GGUF type {kind}, which Tenon does not know; choose another quantization of this model.</source>
   <translation>{file} 中的张量 {name} 是 Tenon 不认识的 GGUF 类型 {kind}；请选择此模型的其他量化版本。</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>The tensors do not match config.json: {problems}; put the files of one model together, or choose another model.</source>
   <translation>张量与 config.json 不符：{problems}；请把同一模型的文件放在一起，或选择另一个模型。</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>The tensors do not match the GGUF file's metadata: {problems}; choose another file of this model.</source>
   <translation>张量与 GGUF 文件的元数据不符：{problems}；请选择此模型的另一个文件。</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>The tensors of the prompt tokens do not match their adapter_config.json: {problems}; choose another set.</source>
   <translation>提示词元的张量与其 adapter_config.json 不符：{problems}；请选择另一组。</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>The text is taken out of Tenon's database and its log at once, and nothing brings it back.</source>
   <translation>文本会立即从 Tenon 的数据库及其日志中清除，无法恢复。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>The text so far is kept.</source>
   <translation>已有的文字会保留。</translation>
  </message>
  <message>
   <location filename="engine/gguf/tokenizer.py" />
   <source>The tokenizer in the GGUF file is damaged: download the file again.</source>
   <translation>GGUF 文件中的分词器已损坏：请重新下载该文件。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer_folder.py" />
   <source>The tokenizer in {folder} cannot be read: download the model's tokenizer files again.</source>
   <translation>无法读取 {folder} 中的分词器：请重新下载模型的分词器文件。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>The tokens of a reply appear here as they are written.</source>
   <translation>回复生成时，其 token 会显示在这里。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The top-k is {value}, but it must be a whole number from 0 (all tokens) on.</source>
   <translation>Top k 为 {value}，而它必须是不小于 0 的整数（0 表示全部 token）。</translation>
  </message>
  <message>
   <location filename="engine/model/sampling.py" />
   <source>The top-p is {value}, but it must be above 0 and at most 1.</source>
   <translation>Top p 为 {value}，而它必须大于 0 且不超过 1。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>The torch that Tenon runs on was built for {gpu}: there is nothing to fetch.</source>
   <translation>Tenon 所用的 torch 就是为 {gpu} 构建的：无需另行获取。</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>The trash is empty.</source>
   <translation>回收站是空的。</translation>
  </message>
  <message>
   <location filename="engine/drafting/level_drafter.py" />
   <source>The tree is {depth} tokens deep and the draft has {heads} heads; choose a tree that was made for these heads.</source>
   <translation>树有 {depth} 个 token 深，而草稿只有 {heads} 个头；请选择为这些头制作的树。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>The weights in {file} are damaged: {tensor} holds numbers that are infinite or none (NaN). Download the file again, or use another one.</source>
   <translation>{file} 中的权重已损坏：{tensor} 含有无穷大或非数值（NaN）的数。请重新下载该文件，或使用其他文件。</translation>
  </message>
  <message>
   <location filename="engine/model/converted.py" />
   <source>The {name} weights could not be written next to the model nor to {cache_folder}: make {needed} GB free on one of these disks.</source>
   <translation>{name} 权重既无法写入模型旁，也无法写入 {cache_folder}：请在其中一个磁盘上腾出 {needed} GB。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Theme</source>
   <translation>主题</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Theme as the system</source>
   <translation>主题跟随系统</translation>
  </message>
  <message>
   <location filename="engine/drafting/model_draft.py" />
   <source>There are no prompt tokens in {folder}, where those of the draft are looked for: train them with `tenon train draft --kind prompt-tokens`, or draft without them.</source>
   <translation>{folder} 是查找草稿的提示词元的位置，但其中没有：请用 `tenon train draft --kind prompt-tokens` 训练，或不使用提示词元起草。</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_token_draft.py" />
   <source>There are {count} prompt tokens, and the context has room for {context} tokens; choose a longer context or a smaller set.</source>
   <translation>有 {count} 个提示词元，而上下文只能容纳 {context} 个 token：请选择更长的上下文或更小的一组。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>There is a token.</source>
   <translation>已有令牌。</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>There is an installed model {name} already: remove it first, or give --name.</source>
   <translation>已有名为 {name} 的已安装模型：请先移除它，或用 --name 指定名称。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>There is no GPU support for {name} on this system.</source>
   <translation>在此系统上没有适用于 {name} 的 GPU 支持。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>There is no GPU that Tenon can use here, so the draft runs on the CPU beside the model.</source>
   <translation>本机没有 Tenon 可用的 GPU，因此草稿在 CPU 上与模型一同运行。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>There is no GPU that Tenon can use here, so the drafts run on the CPU beside the model.</source>
   <translation>本机没有 Tenon 可用的 GPU，因此这些草稿在 CPU 上与模型一同运行。</translation>
  </message>
  <message>
   <location filename="app/bridge/settings_desk.py" />
   <source>There is no GPU that Tenon can use here.</source>
   <translation>本机没有 Tenon 可用的 GPU。</translation>
  </message>
  <message>
   <location filename="app/storage/database.py" />
   <source>There is no backup of them.</source>
   <translation>没有它们的备份。</translation>
  </message>
  <message>
   <location filename="engine/planning/format_choice.py" />
   <source>There is no cache format {wanted}: choose {names}.</source>
   <translation>没有缓存格式 {wanted}：请选择 {names}。</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>There is no config.json beside the weights in {location}: add it.</source>
   <translation>{location} 中的权重旁没有 config.json：请添加。</translation>
  </message>
  <message>
   <location filename="engine/hub/download/download_queue.py" />
   <source>There is no download of {name}.</source>
   <translation>没有 {name} 的下载。</translation>
  </message>
  <message>
   <location filename="engine/weights/head_checkpoint.py" />
   <source>There is no draft folder at {folder}; check the path.</source>
   <translation>{folder} 处没有草稿文件夹；请检查路径。</translation>
  </message>
  <message>
   <location filename="engine/cli/models/shelf.py" />
   <source>There is no folder {path}: check the path.</source>
   <translation>没有文件夹 {path}：请检查路径。</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>There is no installed model {name}: `tenon models list` names them.</source>
   <translation>没有已安装的模型 {name}：`tenon models list` 会列出它们的名称。</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/reading.py" />
   <source>There is no message in it.</source>
   <translation>其中没有消息。</translation>
  </message>
  <message>
   <location filename="engine/planning/planner.py" />
   <source>There is no mode {mode}: choose {auto}, {names}.</source>
   <translation>没有模式 {mode}：请选择 {auto}、{names}。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>There is no model at {path}; check the path or install the model.</source>
   <translation>{path} 处没有模型；请检查路径或安装模型。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint_outline.py" />
   <source>There is no model folder at {folder}; check the path or install the model.</source>
   <translation>{folder} 处没有模型文件夹；请检查路径或安装模型。</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>There is no model on this computer yet.</source>
   <translation>本机还没有模型。</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>There is no model {reference}: give the folder of a checkpoint, a GGUF file, an installed model's name, or {default}.</source>
   <translation>没有模型 {reference}：请指定检查点文件夹、GGUF 文件、已安装模型的名称，或 {default}。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is no reply</source>
   <translation>没有回复</translation>
  </message>
  <message>
   <location filename="app/storage/backup.py" />
   <source>There is no room for today's backup of the chats ({size} MiB must be free, {free} MiB are): free some space on the disk that holds {folder}.</source>
   <translation>没有空间进行今天的对话备份（需要空闲 {size} MiB，现有 {free} MiB）：请在 {folder} 所在的磁盘上腾出空间。</translation>
  </message>
  <message>
   <location filename="engine/request.py" />
   <source>There is no rule of verification {verify}: choose {names}.</source>
   <translation>没有验证规则 {verify}：请选择 {names}。</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>There is no server {name}: `tenon models servers` names them.</source>
   <translation>没有服务器 {name}：`tenon models servers` 会列出它们。</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>There is no server {name}: choose another model, or add the server on the page Models or with `tenon models servers --add ADDRESS`.</source>
   <translation>没有服务器 {name}：请选择其他模型，或在“模型”页面或用 `tenon models servers --add ADDRESS` 添加服务器。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>There is no telemetry. Your chats, settings and models stay on this computer, and nothing about you or it is sent to anybody, unless you choose a model on a server that you have added: it gets the chats that it answers. The network is used when you search the hub or download a model too, and to check for updates if you turn that on.</source>
   <translation>没有遥测。对话、设置和模型都留在本机，不会向任何人发送任何相关信息，除非您选择了自己添加的服务器上的模型：它会收到由它回答的对话。此外，只有搜索 Hub、下载模型，以及开启检查更新时才使用网络。</translation>
  </message>
  <message>
   <location filename="engine/reply.py" />
   <source>There is no token {token} in this model: its tokens have the numbers from 0 to {last}.</source>
   <translation>此模型没有词元 {token}：其词元编号为 0 到 {last}。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/action_rows.py" />
   <source>There is no token.</source>
   <translation>没有令牌。</translation>
  </message>
  <message>
   <location filename="engine/planning/format_choice.py" />
   <source>There is no weight format {wanted}: choose auto, {names}.</source>
   <translation>没有权重格式 {wanted}：请选择 auto、{names}。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>There is no {name} in {folder}; choose the folder that holds the model's files.</source>
   <translation>{folder} 中没有 {name}：请选择包含模型文件的文件夹。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is not enough memory</source>
   <translation>内存不足</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is not enough room on the disk</source>
   <translation>磁盘空间不足</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>There is nothing at {path}: check the path.</source>
   <translation>{path} 处没有任何内容：请检查路径。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>There is nothing to answer</source>
   <translation>没有可回答的内容</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>These prompt tokens were trained with an attention mask named {mask}, and Tenon knows {masks}: choose another set.</source>
   <translation>这些提示词元使用名为 {mask} 的注意力掩码训练，而 Tenon 支持 {masks}：请选择另一组。</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>These prompt tokens were trained with {name} = {value}, which Tenon does not run: choose a set that was trained without it.</source>
   <translation>这些提示词元使用 {name} = {value} 训练，Tenon 无法运行：请选择未使用该项训练的一组。</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>They appear once Tenon knows which models run here.</source>
   <translation>查明本机能运行哪些模型后就会显示。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Thinking</source>
   <translation>思考中</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds a LoRA adapter: a change to a model, and not a model. Choose the model with the adapter merged into it.</source>
   <translation>此 GGUF 文件包含 LoRA 适配器：它是对模型的修改，而不是模型。请选择已合并该适配器的模型。</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds a control vector for steering a model, and not a model. Choose the model's own file.</source>
   <translation>此 GGUF 文件包含用于引导模型的控制向量，而不是模型。请选择模型本身的文件。</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds a vocabulary and no weights, so it is no model; choose the model's own file.</source>
   <translation>这个 GGUF 文件只有词表而没有权重，因此不是模型；请选择模型本身的文件。</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds an importance matrix for quantizing a model, and not a model. Choose the model's own file.</source>
   <translation>此 GGUF 文件包含用于量化模型的重要性矩阵，而不是模型。请选择模型本身的文件。</translation>
  </message>
  <message>
   <location filename="engine/gguf/contents.py" />
   <source>This GGUF file holds the part of a model that reads images or sound, and no text model; choose the model's own file.</source>
   <translation>这个 GGUF 文件是模型中读取图像或声音的部分，不是文本模型；请选择模型本身的文件。</translation>
  </message>
  <message>
   <location filename="engine/gguf/config.py" />
   <source>This GGUF file is of an older kind, which has each head's keys and values in one tensor (attn_kv_b); choose a newer conversion of this model.</source>
   <translation>此 GGUF 文件属于较旧的格式，各注意力头的键和值存放在同一个张量中（attn_kv_b）；请选择该模型较新的转换版本。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/bundled_torch.py" />
   <source>This Tenon does not say which torch it runs on, so no GPU support can be chosen: install Tenon again.</source>
   <translation>此 Tenon 未注明所用的 torch，因此无法选择 GPU 支持：请重新安装 Tenon。</translation>
  </message>
  <message>
   <location filename="app/bridge/replies.py" />
   <source>This answer has a new seed: with the fixed one, {seed}, it would be the first answer again.</source>
   <translation>此回答使用新的种子：若用固定种子 {seed}，会得到与第一次相同的回答。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>This cannot be done</source>
   <translation>无法执行</translation>
  </message>
  <message>
   <location filename="app/ui/app_menu.py" />
   <source>This chat</source>
   <translation>此对话</translation>
  </message>
  <message>
   <location filename="app/ui/header.py" />
   <source>This chat has settings of its own</source>
   <translation>此对话有自己的设置</translation>
  </message>
  <message>
   <location filename="app/storage/conversation_store.py" />
   <source>This computer's SQLite has no full-text index (FTS5), so letters are compared, and it takes longer.</source>
   <translation>本机的 SQLite 没有全文索引 (FTS5)，因此逐字比较，耗时较长。</translation>
  </message>
  <message>
   <location filename="engine/text/chat_template.py" />
   <source>This conversation takes the model's chat template more than {seconds} s or {size} MiB, so it is not answered: shorten it, or send fewer and smaller tools.</source>
   <translation>模型的聊天模板处理这段对话需要超过 {seconds} 秒或 {size} MiB，因此不作回答：请缩短对话，或发送更少、更小的工具。</translation>
  </message>
  <message>
   <location filename="app/settings/exchange.py" />
   <source>This file holds no settings of Tenon: choose one that was made by Export settings.</source>
   <translation>此文件不含 Tenon 的设置：请选择由“导出设置”生成的文件。</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>This installation</source>
   <translation>本安装</translation>
  </message>
  <message>
   <location filename="engine/hub/access_token.py" />
   <source>This is no access token: copy it whole from the hub's settings; it starts with hf_.</source>
   <translation>这不是访问令牌：请从 Hub 的设置中完整复制；它以 hf_ 开头。</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>This is no key: copy it whole from the server that gave it.</source>
   <translation>这不是密钥：请从提供它的服务器完整复制。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>This machine</source>
   <translation>本机</translation>
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>This machine is being measured: compare the modes when that is done, or stop it first.</source>
   <translation>正在测量本机：请等测量完成后再比较，或先停止测量。</translation>
  </message>
  <message>
   <location filename="app/bridge/machine.py" />
   <source>This machine is being measured: the reply begins when that is done, or when you stop it.</source>
   <translation>正在测量本机：测量完成或停止后开始回复。</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>This message was damaged on the disk, and no backup has it.</source>
   <translation>此消息在磁盘上已损坏，且没有备份包含它。</translation>
  </message>
  <message>
   <location filename="app/storage/mending.py" />
   <source>This message was damaged on the disk: restart Tenon, which looks for it in the backups.</source>
   <translation>此消息在磁盘上已损坏：请重新启动 Tenon，它会在备份中查找该消息。</translation>
  </message>
  <message>
   <location filename="engine/text/tokenizer.py" />
   <source>This model brings no chat template, so the conversation is given to it as plain text: it only continues texts.</source>
   <translation>此模型没有自带对话模板，因此对话以纯文本形式交给它：它只会续写文本。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>This model is quantized (quantization_config, {method}), which Tenon cannot read; choose the unquantized version.</source>
   <translation>此模型已量化（quantization_config，{method}），Tenon 无法读取；请选择未量化的版本。</translation>
  </message>
  <message>
   <location filename="app/ui/continue_line.py" />
   <source>This model only continues texts.</source>
   <translation>此模型只会续写文本。</translation>
  </message>
  <message>
   <location filename="app/bridge/plans.py" />
   <source>This model runs on a server, so nothing is planned here.</source>
   <translation>此模型运行在服务器上，因此这里不作规划。</translation>
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>This model runs on a server, which has modes of its own: choose a model of this computer.</source>
   <translation>此模型运行在服务器上，服务器有自己的模式：请选择本机上的模型。</translation>
  </message>
  <message>
   <location filename="engine/drafting/block_network.py" />
   <source>This model scales its embedding, and the draft has none of its own; choose a draft that has one, or an EAGLE-3 draft.</source>
   <translation>这个模型会缩放它的嵌入，而草稿没有自己的嵌入；请选择带有嵌入的草稿，或 EAGLE-3 草稿。</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>This model's context has {tokens} tokens from now on.</source>
   <translation>此模型的上下文从现在起为 {tokens} 个 token。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/page.py" />
   <source>This page is copied as text.</source>
   <translation>此页面将以文本形式复制。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>This reply</source>
   <translation>此回复</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>This reply: {facts}</source>
   <translation>此回复：{facts}</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>This system has no keyring that Tenon can keep the key in: put it into the environment variable {variable} before Tenon starts, and add the server without it.</source>
   <translation>本系统没有可供 Tenon 保存密钥的密钥环：请在启动 Tenon 之前将其放入环境变量 {variable}，并在不填密钥的情况下添加服务器。</translation>
  </message>
  <message>
   <location filename="engine/hub/access_token.py" />
   <source>This system has no keyring that Tenon can keep the token in: put it into the environment variable HF_TOKEN instead.</source>
   <translation>此系统没有可供 Tenon 保存令牌的钥匙串：请改将令牌放入环境变量 HF_TOKEN。</translation>
  </message>
  <message>
   <location filename="app/ui/server/page.py" />
   <source>This system has no keyring: the next start has another key.</source>
   <translation>本系统没有密钥环：下次启动将使用另一个密钥。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>This takes effect when Tenon is opened again.</source>
   <translation>下次打开 Tenon 时生效。</translation>
  </message>
  <message>
   <location filename="app/ui/turn_requests.py" />
   <source>This version and what follows it are deleted.</source>
   <translation>此版本及其后的内容已删除。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Thought</source>
   <translation>思考</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>Thoughts are folded above the answer and never sent back to the model.</source>
   <translation>思考折叠在回答上方，不会再发送给模型。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/thought.py" />
   <source>Thoughts of the model</source>
   <translation>模型的思考</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>Times plain</source>
   <translation>普通的倍数</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_delegate.py" />
   <source>Title</source>
   <translation>标题</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Titles by the model</source>
   <translation>由模型起标题</translation>
  </message>
  <message>
   <location filename="engine/text/output_form.py" />
   <source>To compile the form of the reply takes more than {seconds} s or {size} MiB, so it is not used: make it smaller.</source>
   <translation>编译回复格式需要超过 {seconds} 秒或 {size} MiB，因此不予使用：请缩小它。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/width_panel.py" />
   <source>To measure them run {command} in a terminal.</source>
   <translation>要测量它们，请在终端中运行 {command}。</translation>
  </message>
  <message>
   <location filename="engine/text/preparation.py" />
   <source>To prepare this request takes more than {seconds} s or {size} MiB, so it is not answered: make it smaller.</source>
   <translation>准备此请求需要超过 {seconds} 秒或 {size} MiB，因此不作回答：请缩小请求。</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Today</source>
   <translation>今天</translation>
  </message>
  <message>
   <location filename="app/storage/backup.py" />
   <source>Today's backup of the chats is not sound: restart Tenon, which checks them.</source>
   <translation>今天的对话备份不完好：请重新启动 Tenon 以检查。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Tokens</source>
   <translation>Token</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Tokens checked at once</source>
   <translation>一次检查的 token 数</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Tokens of the reply</source>
   <translation>回复的 token</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Tokens per step</source>
   <translation>每步 token 数</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>Tokens per step, of all users</source>
   <translation>每步 token 数（所有用户）</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>Tokens: {words}</source>
   <translation>Token：{words}</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Too short to tell which wrote faster</source>
   <translation>太短，无法判断哪种写得更快</translation>
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
   <translation>训练好的提示词元让模型在一遍中猜测多个 token 并检查先前的猜测。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/transcript.py" />
   <source>Transcript</source>
   <translation>对话记录</translation>
  </message>
  <message>
   <location filename="app/ui/trash_dialog.py" />
   <source>Trash</source>
   <translation>回收站</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>Trash...</source>
   <translation>回收站...</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Try again</source>
   <translation>重试</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Try again as it was</source>
   <translation>原样重试</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>Try {name} again</source>
   <translation>重试 {name}</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>Two of the files have the same name: leave one of them out.</source>
   <translation>有两个文件同名：请去掉其中一个。</translation>
  </message>
  <message>
   <location filename="app/ui/composer/composer.py" />
   <source>Type a message first</source>
   <translation>请先输入消息</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>Type “{word}” to go on:</source>
   <translation>输入“{word}”以继续：</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Typical acceptance (lossy)</source>
   <translation>典型接受（有损）</translation>
  </message>
  <message>
   <location filename="engine/reply.py" />
   <source>Typical acceptance is lossy: the reply may differ from what the model alone would say.</source>
   <translation>典型接受是有损的：回复可能与模型单独给出的回复不同。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>Undo</source>
   <translation>撤销</translation>
  </message>
  <message>
   <location filename="app/ui/settings/foot.py" />
   <source>Undo changes</source>
   <translation>撤销更改</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Unfold</source>
   <translation>展开</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Unknown</source>
   <translation>未知</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Unpacking, {done} of {total}</source>
   <translation>正在解压，{done} / {total}</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/row_menu.py" />
   <source>Unpin</source>
   <translation>取消置顶</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>Use the files where they are</source>
   <translation>使用原位置的文件</translation>
  </message>
  <message>
   <location filename="app/settings/mode_options.py" />
   <source>Usual</source>
   <translation>默认</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Usual context</source>
   <translation>默认上下文</translation>
  </message>
  <message>
   <location filename="app/ui/view_commands.py" />
   <source>Usual size of text</source>
   <translation>默认文字大小</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Usual, {tokens} tokens</source>
   <translation>默认，{tokens} 个 token</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>VRAM, GB</source>
   <translation>显存，GB</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Verification</source>
   <translation>验证</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/message_actions.py" />
   <source>Version {number} of {all}</source>
   <translation>第 {number} 版，共 {all} 版</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Versions, system and hardware, for a report</source>
   <translation>版本、系统和硬件，用于报告</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Very short English answers; often wrong.</source>
   <translation>非常简短的英语回答；常出错。</translation>
  </message>
  <message>
   <location filename="app/ui/commands.py" />
   <source>View</source>
   <translation>视图</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting for the engine to start again</source>
   <translation>等待引擎重新启动</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting for the other reply</source>
   <translation>等待另一条回复</translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>Waiting to go on, {done} of {total}</source>
   <translation>等待继续，{done} / {total}</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Waiting until this machine is measured</source>
   <translation>等待本机测量完成</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>Waits for the other mode</source>
   <translation>等待另一种模式</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Warming up</source>
   <translation>正在预热</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_panel.py" />
   <source>Ways to run the model by predicted speed, fastest first</source>
   <translation>运行模型的方式，按预测速度从快到慢</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>Weights in {format}.</source>
   <translation>权重格式 {format}。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Weights that are not in memory are read from the disk for every pass; the speed is the disk's.</source>
   <translation>不在内存中的权重在每次计算时从磁盘读取；速度取决于磁盘。</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/first_run.py" />
   <source>Welcome</source>
   <translation>欢迎</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Welcome to Tenon</source>
   <translation>欢迎使用 Tenon</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>What can you do?</source>
   <translation>你能做什么？</translation>
  </message>
  <message>
   <location filename="app/ui/command_palette.py" />
   <source>What do you want to do?</source>
   <translation>要做什么？</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>What happened</source>
   <translation>发生了什么</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>What is free</source>
   <translation>可用的部分</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>What is new</source>
   <translation>新功能</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>What leaves this computer</source>
   <translation>哪些内容会离开本机</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>What would you like to know?</source>
   <translation>想了解什么？</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>What you write goes to {server}, a program of this computer, {address}. Replies can be wrong, so check what matters.</source>
   <translation>您写的内容会发送到 {server}（本机上的程序，{address}）。回复可能有误，重要内容请核实。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>What you write goes to {server}, {address}, unencrypted: others on the network can read it. Replies can be wrong, so check what matters.</source>
   <translation>您写的内容会未经加密地发送到 {server}（{address}）：网络上的其他人可以读到。回复可能有误，重要内容请核实。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>What you write goes to {server}, {address}. Replies can be wrong, so check what matters.</source>
   <translation>您写的内容会发送到 {server}（{address}）。回复可能有误，重要内容请核实。</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>What you write stays here.</source>
   <translation>所写内容留在这里。</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>When a long reply is complete while the window is in the background.</source>
   <translation>窗口在后台时，长回复完成后通知。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Where downloaded models lie.</source>
   <translation>下载的模型存放的位置。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Where it lives</source>
   <translation>存放位置</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>Where it lives: {places}</source>
   <translation>存放位置：{places}</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Where they lie on this computer.</source>
   <translation>它们在本机上的位置。</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Where you search for words in a chat</source>
   <translation>在对话中搜索时</translation>
  </message>
  <message>
   <location filename="app/ui/shortcut_table.py" />
   <source>Where you type a message</source>
   <translation>输入消息时</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Which guesses of a draft the model accepts; the lossy rule accepts more and changes what replies say.</source>
   <translation>模型接受草稿的哪些猜测；有损规则接受更多，但会改变回复内容。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Who guessed</source>
   <translation>由谁猜测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/votes_view.py" />
   <source>Who guessed: {members}</source>
   <translation>由谁猜测：{members}</translation>
  </message>
  <message>
   <location filename="engine/modes/mode.py" />
   <source>Width of drafts</source>
   <translation>草稿宽度</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/sidebar.py" />
   <source>Width of the chats: left and right change it</source>
   <translation>聊天列表宽度：用左右键调整</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>Width of the inspector: left and right change it</source>
   <translation>检查器宽度：用左右键调整</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Window</source>
   <translation>窗口</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>With its small helper, {size}</source>
   <translation>连同小助手，{size}</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>With the draft head {title}</source>
   <translation>带草稿头 {title}</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>With the draft {title}, {size}</source>
   <translation>带草稿 {title}，{size}</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>Words of the window, from the next start on.</source>
   <translation>窗口的文字，下次启动时生效。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Write a message</source>
   <translation>写消息</translation>
  </message>
  <message>
   <location filename="app/bridge/turns.py" />
   <source>Write a message first.</source>
   <translation>请先写消息。</translation>
  </message>
  <message>
   <location filename="app/bridge/comparison.py" />
   <source>Write a prompt to compare the modes on.</source>
   <translation>请写一个用于比较模式的提示词。</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>Write a short story about a lighthouse</source>
   <translation>写一个关于灯塔的短故事</translation>
  </message>
  <message>
   <location filename="app/settings/setting.py" />
   <source>Write a whole address, such as {example}.</source>
   <translation>请写完整地址，例如 {example}。</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>Write an email to this address?</source>
   <translation>向此地址写邮件？</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Write below: {model} answers at once. It is very small: quick, often wrong.</source>
   <translation>在下方输入：{model} 会立即回答。它很小：很快，但常出错。</translation>
  </message>
  <message>
   <location filename="app/ui/welcome/panel.py" />
   <source>Write below: {model} answers on this computer.</source>
   <translation>在下方输入：{model} 在本机回答。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Write what comes next</source>
   <translation>接着往下写</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writes and changes programs, with long contexts and tools; it answers at the speed of a small model.</source>
   <translation>编写和修改程序，支持长上下文和工具；回答速度和小模型一样。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>Writing</source>
   <translation>正在写</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writing and conversation, with a long memory for the chat.</source>
   <translation>写作和对话，能记住很长的对话。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writing and questions in many languages, long texts too.</source>
   <translation>多种语言的写作和问答，也适合长文本。</translation>
  </message>
  <message>
   <location filename="app/settings/pages.py" />
   <source>Writing style</source>
   <translation>写作风格</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/comparison/wording.py" />
   <source>Writing, %n token(s)</source>
   <translation>
    <numerusform>正在写，%n 个 token</numerusform>
   </translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writing, reasoning and long texts in many languages.</source>
   <translation>用多种语言写作、推理和处理长文本。</translation>
  </message>
  <message>
   <location filename="assets/catalogue.json" />
   <source>Writing, summaries, code and many languages.</source>
   <translation>写作、摘要、代码，支持多种语言。</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/list_rows.py" />
   <source>Yesterday</source>
   <translation>昨天</translation>
  </message>
  <message>
   <location filename="app/chat/exchange/markdown_page.py" />
   <source>You</source>
   <translation>我</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>You are a helpful assistant.</source>
   <translation>你是一个乐于助人的助手。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Your chats are from a newer Tenon</source>
   <translation>对话来自更新版的 Tenon</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/desk.py" />
   <source>Your chats are safe. You can look at the details and report them.</source>
   <translation>对话是安全的。可以查看并报告详情。</translation>
  </message>
  <message>
   <location filename="app/chat/troubles.py" />
   <source>Your chats cannot be saved</source>
   <translation>无法保存对话</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/sidebar.py" />
   <source>Your chats will be listed here.</source>
   <translation>对话会列在这里。</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/bubble.py" />
   <source>Your message</source>
   <translation>我的消息</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/error_notice.py" />
   <source>Your message is kept.</source>
   <translation>消息已保留。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Your message stays here. Send it when this reply is done, or stop the reply first.</source>
   <translation>消息留在这里。请在此回复完成后发送，或先停止回复。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_page.py" />
   <source>Your next message starts the model again</source>
   <translation>下一条消息会重新启动模型</translation>
  </message>
  <message>
   <location filename="app/ui/updates.py" />
   <source>Your system installs it with its other updates: `sudo apt update &amp;&amp; sudo apt install tenon`.</source>
   <translation>系统会随其他更新一起安装：`sudo apt update &amp;&amp; sudo apt install tenon`。</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>about {size}</source>
   <translation>约 {size}</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_shelf.py" />
   <source>about {speed}</source>
   <translation>约 {speed}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>about {speed} tok/s</source>
   <translation>约 {speed} tok/s</translation>
  </message>
  <message>
   <location filename="engine/placement/resident.py" />
   <source>all in memory</source>
   <translation>全部在内存中</translation>
  </message>
  <message>
   <location filename="engine/placement/split.py" />
   <source>all {layers} layers on the GPU</source>
   <translation>全部 {layers} 层在 GPU 上</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>an unknown method</source>
   <translation>未知方法</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>and %n more</source>
   <translation>
    <numerusform>另有 %n 个</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>archived</source>
   <translation>已归档</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>as fast as plain</source>
   <translation>与普通一样快</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>at rest</source>
   <translation>休眠中</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/line_plot.py" />
   <source>at the end {value} {unit}</source>
   <translation>结束时 {value} {unit}</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>attention of all {layers} layers and experts of {count} on the GPU, the other experts in memory</source>
   <translation>全部 {layers} 层的注意力与 {count} 层的专家在 GPU 上，其余专家在内存中</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>attention of all {layers} layers on the GPU, all experts in memory</source>
   <translation>全部 {layers} 层的注意力在 GPU 上，所有专家在内存中</translation>
  </message>
  <message>
   <location filename="app/ui/composer/attachment_row.py" />
   <source>being read</source>
   <translation>正在读取</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>buffers</source>
   <translation>缓冲区</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>built in, a very small model: quick, often wrong</source>
   <translation>内置的很小的模型：很快，常出错</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>caches</source>
   <translation>缓存</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed_experts.py" />
   <source>chosen experts</source>
   <translation>选中的专家</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>config.json names no architecture; download the model's own config.json again.</source>
   <translation>config.json 未注明架构；请重新下载模型自带的 config.json。</translation>
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>corrected</source>
   <translation>已更正</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>d MMM yyyy</source>
   <translation>yyyy年M月d日</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>disk</source>
   <translation>磁盘</translation>
  </message>
  <message>
   <location filename="engine/modes/dovetail.py" />
   <source>dovetail</source>
   <translation>Dovetail</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>draft</source>
   <translation>草稿</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>draft on the CPU, {where}</source>
   <translation>草稿在 CPU 上，{where}</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>draft on the GPU, {where}</source>
   <translation>草稿在 GPU 上，{where}</translation>
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>draft, accepted</source>
   <translation>草稿，已接受</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>drafts on the CPU, {where}</source>
   <translation>草稿在 CPU 上，{where}</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>drafts on the GPU and the CPU, {where}</source>
   <translation>草稿在 GPU 和 CPU 上，{where}</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>drafts on the GPU, {where}</source>
   <translation>草稿在 GPU 上，{where}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>engine alone</source>
   <translation>仅引擎</translation>
  </message>
  <message>
   <location filename="app/ui/erase_dialog.py" />
   <source>erase</source>
   <translation>清除</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>exit code {code}</source>
   <translation>退出码 {code}</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>experts of {layers} layers</source>
   <translation>{layers} 层的专家</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>first token</source>
   <translation>首个 token</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>first token after {time}</source>
   <translation>{time} 后首个 token</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>first token {time}</source>
   <translation>首个 token {time}</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>free {size} GB</source>
   <translation>可用 {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>from {source}</source>
   <translation>来自 {source}</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_table.py" />
   <source>gated</source>
   <translation>需授权</translation>
  </message>
  <message>
   <location filename="engine/modes/ghidorah.py" />
   <source>ghidorah</source>
   <translation>Ghidorah</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>gigabytes</source>
   <translation>吉字节</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>guessed and accepted</source>
   <translation>猜测并被接受</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>guessed and not taken</source>
   <translation>猜测但未采用</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>into a terminal</source>
   <translation>到终端中</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>into a terminal, before the program is started</source>
   <translation>到终端中，在启动程序之前</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>into a terminal, to try it</source>
   <translation>到终端中，用来试一试</translation>
  </message>
  <message>
   <location filename="app/chat/server_state.py" />
   <source>into {file}, under “models”</source>
   <translation>到 {file} 的 “models” 下</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>it announces more than it holds</source>
   <translation>声明的内容多于实际内容</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>it ends within its list of contents</source>
   <translation>文件在其内容列表中途结束</translation>
  </message>
  <message>
   <location filename="engine/outside_file.py" />
   <source>it is no file that ends</source>
   <translation>它不是有结尾的文件</translation>
  </message>
  <message>
   <location filename="engine/outside_file.py" />
   <source>it is not a file, but a folder, a pipe or a device</source>
   <translation>它不是文件，而是文件夹、管道或设备</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>it sent something that cannot be read</source>
   <translation>它发送了无法读取的内容</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>its alignment is {alignment}</source>
   <translation>其对齐值为 {alignment}</translation>
  </message>
  <message>
   <location filename="engine/model/packed_loader.py" />
   <source>its columns fill no blocks</source>
   <translation>其列数填不满整块</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>its header has no valid length</source>
   <translation>其文件头没有有效的长度</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>its header is not JSON</source>
   <translation>其文件头不是 JSON</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>its header is not an object</source>
   <translation>其文件头不是对象</translation>
  </message>
  <message>
   <location filename="engine/modes/layer_offload.py" />
   <source>layer-offload</source>
   <translation>逐层卸载</translation>
  </message>
  <message>
   <location filename="engine/modes/llmcad.py" />
   <source>llmcad</source>
   <translation>LLMCad</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>loading</source>
   <translation>加载中</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>loading, {percent}</source>
   <translation>加载中，{percent}</translation>
  </message>
  <message>
   <location filename="engine/modes/lookup.py" />
   <source>lookup</source>
   <translation>查找</translation>
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>measured</source>
   <translation>实测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>measured here</source>
   <translation>本机实测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>measured {speed}</source>
   <translation>实测 {speed}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>measured {speed}, predicted {prediction}</source>
   <translation>实测 {speed}，预测 {prediction}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/measure_panel.py" />
   <source>measuring</source>
   <translation>测量中</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>megabytes per second</source>
   <translation>兆字节/秒</translation>
  </message>
  <message>
   <location filename="app/settings/settings.py" />
   <source>min</source>
   <translation>分钟</translation>
  </message>
  <message>
   <location filename="engine/modes/minions.py" />
   <source>minions</source>
   <translation>Minions</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>missing {size} GB</source>
   <translation>缺少 {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/details_dialog.py" />
   <source>no chat text included</source>
   <translation>不含对话文本</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>no licence stated</source>
   <translation>未注明许可证</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>none, everything fits in memory</source>
   <translation>无，内存可全部容纳</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>none, or the one that is kept</source>
   <translation>无，或已保存的密钥</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>not loaded</source>
   <translation>未加载</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>not measured</source>
   <translation>未测量</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>not measured yet</source>
   <translation>尚未测量</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/votes_view.py" />
   <source>nothing verified, weight {weight}</source>
   <translation>尚未检验，权重 {weight}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/facts.py" />
   <source>nothing yet</source>
   <translation>暂无</translation>
  </message>
  <message>
   <location filename="engine/modes/offload.py" />
   <source>offload</source>
   <translation>部分卸载</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on battery</source>
   <translation>使用电池</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on battery, {charge}</source>
   <translation>使用电池，{charge}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>on mains power</source>
   <translation>使用电源</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>on {server}</source>
   <translation>在 {server} 上</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/shortage_bar.py" />
   <source>other programs {size} GB</source>
   <translation>其他程序 {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>others</source>
   <translation>其他</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>paused</source>
   <translation>已暂停</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>pinned</source>
   <translation>已置顶</translation>
  </message>
  <message>
   <location filename="app/chat/reply_trace.py" />
   <source>plain</source>
   <translation>普通</translation>
  </message>
  <message>
   <location filename="engine/modes/ppd.py" />
   <source>ppd</source>
   <translation>PPD</translation>
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>predicted</source>
   <translation>预测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>predicted for this model, then measured</source>
   <translation>为此模型预测，然后实测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>predicted from assumed speeds</source>
   <translation>根据假设速度预测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/plan_view.py" />
   <source>predicted {speed}</source>
   <translation>预测 {speed}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/bars.py" />
   <source>predicted, from assumed speeds</source>
   <translation>根据假设速度预测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>prompt tokens: {count}</source>
   <translation>提示词元：{count}</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>ran {mode}</source>
   <translation>以 {mode} 运行</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>reply running</source>
   <translation>正在回复</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>signal {number}</source>
   <translation>信号 {number}</translation>
  </message>
  <message>
   <location filename="app/bridge/engine_client.py" />
   <source>signal {number}, most likely because memory ran out</source>
   <translation>信号 {number}，很可能是内存耗尽</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>since Continue</source>
   <translation>自“继续”以来</translation>
  </message>
  <message>
   <location filename="app/ui/trouble/about_dialog.py" />
   <source>stated in its own files</source>
   <translation>见其自带文件</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: nothing was guessed</source>
   <translation>第 {number} 步：没有猜测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: {accepted} accepted</source>
   <translation>第 {number} 步：接受 {accepted} 个</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>step {number}: {accepted} accepted, 1 corrected</source>
   <translation>第 {number} 步：接受 {accepted} 个，更正 1 个</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>stopped</source>
   <translation>已停止</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>the bytes of {name} do not match its shape</source>
   <translation>{name} 的字节与其形状不符</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>the disk is full</source>
   <translation>磁盘已满</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>the entry of {name} cannot be read</source>
   <translation>无法读取 {name} 的条目</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>the host's</source>
   <translation>主机名</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>the model's own</source>
   <translation>模型自己的</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>the model's own, in place of the guesses</source>
   <translation>模型自己的，取代猜测</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installation.py" />
   <source>the package index</source>
   <translation>软件包索引</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>the texts are identical</source>
   <translation>文本完全相同</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>the texts are identical as far as both came</source>
   <translation>两者已有的部分文本相同</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>the texts differ from token {number} on</source>
   <translation>文本从第 {number} 个 token 起不同</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>the token before</source>
   <translation>前一个 token</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/reply_status.py" />
   <source>thought</source>
   <translation>思考</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>tok/s</source>
   <translation>tok/s</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>tok/s over the reply</source>
   <translation>回复期间的 tok/s</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>tok/s, assumed</source>
   <translation>tok/s，假设</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>tokens</source>
   <translation>个 token</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>tokens per second</source>
   <translation>token/秒</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>two tensors have the same name</source>
   <translation>有两个张量同名</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>until the context is full</source>
   <translation>直到上下文写满</translation>
  </message>
  <message>
   <location filename="app/ui/models/installed_list.py" />
   <source>used in place</source>
   <translation>原位使用</translation>
  </message>
  <message>
   <location filename="app/ui/models/server_dialog.py" />
   <source>vLLM, SGLang, llama.cpp, Ollama, LM Studio, another Tenon, or any other that speaks OpenAI's protocol. What you write to one of its models is sent to it.</source>
   <translation>vLLM、SGLang、llama.cpp、Ollama、LM Studio、另一台 Tenon，或任何使用 OpenAI 协议的服务器。您写给其模型的内容会发送给它。</translation>
  </message>
  <message>
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>waiting for the other reply</source>
   <translation>等待另一条回复</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>waits for its turn</source>
   <translation>等待中</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>warming up</source>
   <translation>预热中</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>weights</source>
   <translation>权重</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/inspector.py" />
   <source>weights go on from the last reply</source>
   <translation>权重沿用上一条回复</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>what the model's makers advise</source>
   <translation>模型作者的建议值</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>{active} of {whole} billion active</source>
   <translation>激活 {active}B / 共 {whole}B</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>{address} is no address of a package index: it must begin with https://.</source>
   <translation>{address} 不是软件包索引的地址：地址必须以 https:// 开头。</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>{address} is no address of a server: write it like http://desk:8000 or https://models.example.org.</source>
   <translation>{address} 不是服务器地址：请写成 http://desk:8000 或 https://models.example.org 的形式。</translation>
  </message>
  <message>
   <location filename="engine/model/config.py" />
   <source>{architecture} without a text part ({part} in config.json) writes no text; choose another model.</source>
   <translation>{architecture} 没有文本部分（config.json 中的 {part}），无法生成文本；请选择其他模型。</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>{beginning}… and {count} characters more</source>
   <translation>{beginning}… 还有 {count} 个字符</translation>
  </message>
  <message>
   <location filename="app/ui/choice_popup.py" />
   <source>{choice}, in use</source>
   <translation>{choice}，使用中</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>{count} missing ({names})</source>
   <translation>{count} 个缺失（{names}）</translation>
  </message>
  <message>
   <location filename="engine/model/packed_loader.py" />
   <source>{count} of the model's matrices do not fit {name} and stay in bf16 ({first}: {why}).</source>
   <translation>模型中有 {count} 个矩阵不适合 {name}，仍保留为 bf16（{first}：{why}）。</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>{count} of the wrong shape ({names})</source>
   <translation>{count} 个形状不对（{names}）</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed_experts.py" />
   <source>{count} of {experts} experts of each layer</source>
   <translation>每层 {experts} 个专家中的 {count} 个</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed.py" />
   <source>{count} of {layers} layers in memory, the others read from the disk</source>
   <translation>{layers} 层中有 {count} 层在内存中，其余从磁盘读取</translation>
  </message>
  <message>
   <location filename="engine/placement/layer_offload.py" />
   <source>{count} of {layers} layers on the GPU, the others copied there as needed</source>
   <translation>{layers} 层中有 {count} 层在 GPU 上，其余在需要时复制过去</translation>
  </message>
  <message>
   <location filename="engine/placement/split.py" />
   <source>{count} of {layers} layers on the GPU, the others in memory</source>
   <translation>{layers} 层中有 {count} 层在 GPU 上，其余在内存中</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>{count} unexpected ({names})</source>
   <translation>{count} 个多余（{names}）</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/machine/words.py" />
   <source>{done} of %n mode(s) done</source>
   <translation>
    <numerusform>已完成 {done} / %n 种模式</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>{done} of {total}</source>
   <translation>{done} / {total}</translation>
  </message>
  <message>
   <location filename="engine/drafting/kinds.py" />
   <source>{draft}: {problem}</source>
   <translation>{draft}：{problem}</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{extent}, text missing</source>
   <translation>{extent}，缺少文字</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_choice.py" />
   <source>{file_name} on the package index is no wheel: give another index.</source>
   <translation>软件包索引中的 {file_name} 不是 wheel 文件：请指定其他索引。</translation>
  </message>
  <message>
   <location filename="engine/kernels/library.py" />
   <source>{file} cannot be loaded: {error}.</source>
   <translation>无法加载 {file}：{error}。</translation>
  </message>
  <message>
   <location filename="engine/weights/watched_file.py" />
   <source>{file} ended while {name} was read; download it again.</source>
   <translation>读取 {name} 时 {file} 意外结束；请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/kernels/library.py" />
   <source>{file} is from another version; `python -m engine.kernels.build` rebuilds it.</source>
   <translation>{file} 来自其他版本；运行 `python -m engine.kernels.build` 即可重新构建。</translation>
  </message>
  <message>
   <location filename="engine/kernels/library.py" />
   <source>{file} was not built; `python -m engine.kernels.build` builds it.</source>
   <translation>{file} 尚未构建；运行 `python -m engine.kernels.build` 即可构建。</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>{folder} cannot be removed: close what uses the model, or check who owns it.</source>
   <translation>无法移除 {folder}：请关闭正在使用该模型的程序，或检查其所有者。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installed_addon.py" />
   <source>{folder} cannot be removed: end the command that is fetching GPU support, or check who owns it.</source>
   <translation>无法移除 {folder}：请结束正在获取 GPU 支持的命令，或检查其所有者。</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>{folder} holds more than one GGUF model: give the file that you want.</source>
   <translation>{folder} 中有多个 GGUF 模型：请指定所需的文件。</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>{folder} holds no weights that Tenon reads: give a folder with model.safetensors (or shards and their index), or a GGUF file.</source>
   <translation>{folder} 中没有 Tenon 可读取的权重：请指定含有 model.safetensors（或分片及其索引）的文件夹，或 GGUF 文件。</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>{folder} is a file: give the model folder, the one that holds config.json, or a GGUF file.</source>
   <translation>{folder} 是文件：请指定含有 config.json 的模型文件夹，或 GGUF 文件。</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>{folder} is a pipe, a device or a socket: give the model folder, the one that holds config.json, or a GGUF file.</source>
   <translation>{folder} 是管道、设备或套接字：请指定含有 config.json 的模型文件夹，或 GGUF 文件。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/desk_actions.py" />
   <source>{folder} is not there yet: nothing was put into it.</source>
   <translation>{folder} 还不存在：尚未放入任何内容。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>{free} are free on the disk of Tenon's models.</source>
   <translation>Tenon 模型所在的磁盘可用 {free}。</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>{free} are free on the disk.</source>
   <translation>磁盘可用 {free}。</translation>
  </message>
  <message>
   <location filename="app/ui/models/get_dialog.py" />
   <source>{free} are free on the disk; {left} stay free.</source>
   <translation>磁盘可用空间为 {free}；下载后剩余 {left}。</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>{here}. {message}</source>
   <translation>{here}。{message}</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{hours} h left</source>
   <translation>还剩 {hours} 小时</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{index} cannot be read; download it again.</source>
   <translation>无法读取 {index}；请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{index} names files outside its folder; download the model from its own source.</source>
   <translation>{index} 指向其文件夹之外的文件；请从模型的原始来源下载。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{key} is there twice</source>
   <translation>{key} 出现了两次</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{kind} is no type of an array</source>
   <translation>{kind} 不是数组的类型</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{kind} is no type of metadata</source>
   <translation>{kind} 不是元数据的类型</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{kind}, {size} free</source>
   <translation>{kind}，可用 {size}</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>{layers} layers without experts</source>
   <translation>{layers} 层（不含专家）</translation>
  </message>
  <message>
   <location filename="engine/placement/split_experts.py" />
   <source>{layers} layers, {count} with experts</source>
   <translation>{layers} 层，其中 {count} 层含专家</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>{location} is not there any more: plug its disk in, or import the model again.</source>
   <translation>{location} 已不存在：请接上其磁盘，或重新导入模型。</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{minutes} min left</source>
   <translation>还剩 {minutes} 分钟</translation>
  </message>
  <message>
   <location filename="engine/gguf/parts.py" />
   <source>{missing} is not there ({absent} of {count} parts are missing); download the model again.</source>
   <translation>缺少 {missing}（{count} 个分片中缺 {absent} 个）；请重新下载模型。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{missing} is not there ({absent} of {count} weights files are missing); download the model again.</source>
   <translation>缺少 {missing}（{count} 个权重文件中缺 {absent} 个）；请重新下载模型。</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model} answers on this computer. What you write stays here.</source>
   <translation>{model} 在本机回答。所写内容留在这里。</translation>
  </message>
  <message>
   <location filename="engine/remote/remote_reply.py" />
   <source>{model} answers on {server} ({kind}, {address}).</source>
   <translation>{model} 在 {server} 上回答（{kind}，{address}）。</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model} answers on {server}. What you write is sent there.</source>
   <translation>{model} 在 {server} 上回答。您写的内容会发送到那里。</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model} goes on with a text that you begin. It was not made for chats.</source>
   <translation>{model} 会续写您开头的文本。它不是为聊天而做的。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/row_states.py" />
   <source>{model} has a value of its own: {value}.</source>
   <translation>{model} 有自己的值：{value}。</translation>
  </message>
  <message>
   <location filename="app/bridge/open_chat.py" />
   <source>{model} is not on this computer any more: {other} answers in this chat from here on.</source>
   <translation>{model} 已不在本机：此对话从这里起由 {other} 回答。</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>{model} runs on the server {server}, and none of its files are here: choose a model of this computer for this.</source>
   <translation>{model} 运行在服务器 {server} 上，其文件不在本机：请为此选择本机上的模型。</translation>
  </message>
  <message>
   <location filename="app/ui/empty_state.py" />
   <source>{model}, a very small model: quick, often wrong.</source>
   <translation>{model}，很小的模型：很快，常出错。</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>{mode} drafts with {drafts} alone; not used: {unused}.</source>
   <translation>{mode} 只用 {drafts} 起草；未使用：{unused}。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{mode} is the fastest here</source>
   <translation>{mode} 在本机最快</translation>
  </message>
  <message>
   <location filename="engine/planning/machine_planner.py" />
   <source>{mode} was chosen and gains nothing here.</source>
   <translation>已选择 {mode}，但它在这里没有好处。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/width_panel.py" />
   <source>{mode} with {draft}: tok/s by the tokens that a pass of the model checks.</source>
   <translation>{mode}（{draft}）：按模型一次检查的 token 数显示的 token/秒。</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{mode} wrote {times} times as fast</source>
   <translation>{mode} 的书写速度是另一种的 {times} 倍</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{mode} wrote {times} times as fast, but almost no guess held, so that was chance</source>
   <translation>{mode} 的书写速度是另一种的 {times} 倍，但几乎没有猜测成立，因此只是偶然</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{mode}: {figures}</source>
   <translation>{mode}：{figures}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{mode}: {speed} tok/s</source>
   <translation>{mode}：{speed} tok/s</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{mode}: {speed} tok/s, predicted {predicted}</source>
   <translation>{mode}：{speed} tok/s，预测 {predicted}</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/file_drops.py" />
   <source>{name} and %n more</source>
   <translation>
    <numerusform>{name} 和另外 %n 个</numerusform>
   </translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} cannot be read ({reason}): check its rights, or attach another file.</source>
   <translation>无法读取 {name}（{reason}）：请检查其权限，或附加其他文件。</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>{name} cannot be the server's name, because the key of {other} is kept by the same variable: take another one.</source>
   <translation>{name} 不能作为服务器的名称，因为 {other} 的密钥使用同一个变量：请换一个名称。</translation>
  </message>
  <message>
   <location filename="engine/hub/endpoints.py" />
   <source>{name} cannot be the server's name: take another one, of 40 characters at most and without a slash.</source>
   <translation>{name} 不能作为服务器名称：请换一个最多 40 个字符且不含斜杠的名称。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/unpacking.py" />
   <source>{name} cannot be unpacked: fetch it again.</source>
   <translation>无法解压 {name}：请重新获取。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} cannot be {kind} of the shape {shape}</source>
   <translation>{name} 的形状为 {shape}，不可能是 {kind}</translation>
  </message>
  <message>
   <location filename="engine/weights/head_checkpoint.py" />
   <source>{name} does not hold a table of tensors; choose another draft.</source>
   <translation>{name} 中没有张量表；请选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} ends at byte {stop} of {size}</source>
   <translation>{name} 结束于第 {stop} 字节，而文件共 {size} 字节</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>{name} has driver {driver}, and GPU support needs {drivers} or newer: update NVIDIA's driver, and look again.</source>
   <translation>{name} 的驱动程序版本为 {driver}，而 GPU 支持需要 {drivers} 或更新版本：请更新 NVIDIA 驱动程序后再查一次。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>{name} has driver {driver}, and {title} needs {least_driver} or newer: update NVIDIA's driver, and look again.</source>
   <translation>{name} 的驱动程序版本为 {driver}，而 {title} 需要 {least_driver} 或更新版本：请更新 NVIDIA 驱动程序后再查一次。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} has more than {most} characters of text: attach the part that matters.</source>
   <translation>{name} 的文本超过 {most} 个字符：请附加重要的部分。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>{name} has no driver of NVIDIA's: install it, and look again.</source>
   <translation>{name} 没有 NVIDIA 驱动程序：请安装后再查一次。</translation>
  </message>
  <message>
   <location filename="engine/hub/verification.py" />
   <source>{name} has no record of what it should be: import it with `tenon models import` first.</source>
   <translation>{name} 没有可供核对的记录：请先用 `tenon models import` 导入。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} has no text: it is a scan, so have a program recognize its text (OCR) first.</source>
   <translation>{name} 没有文本，是扫描件：请先用程序识别其文字 (OCR)。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} has {dimensions} dimensions</source>
   <translation>{name} 有 {dimensions} 个维度</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} has {size} MiB, but an attachment of its kind holds {most} MiB at most: attach the part that matters.</source>
   <translation>{name} 有 {size} MiB，而此类附件最多 {most} MiB：请附加重要的部分。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} holds no text that can be read: attach text, PDF, DOCX, HTML or EPUB.</source>
   <translation>{name} 中没有可读取的文本：请附加文本、PDF、DOCX、HTML 或 EPUB。</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>{name} in the prompt tokens' adapter_config.json is {value}, and Tenon runs 1 to {most}: choose another set.</source>
   <translation>提示词元的 adapter_config.json 中 {name} 为 {value}，Tenon 支持 1 到 {most}：请选择另一组。</translation>
  </message>
  <message>
   <location filename="engine/drafting/prompt_tokens.py" />
   <source>{name} in the prompt tokens' adapter_config.json is {value}, and must be a whole number of 1 or more; correct it, or choose another set.</source>
   <translation>提示词元的 adapter_config.json 中 {name} 为 {value}，须为不小于 1 的整数：请更正它，或选择另一组。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is RTF, which Tenon does not read: save it as DOCX or plain text, then attach it again.</source>
   <translation>{name} 是 RTF，Tenon 不读取这种格式：请另存为 DOCX 或纯文本，然后重新附加。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} is a GGUF file of version {version}, and Tenon reads versions 2 and 3 in little-endian order; download a newer file of this model.</source>
   <translation>{name} 是版本 {version} 的 GGUF 文件，而 Tenon 读取小端序的版本 2 和 3；请下载此模型较新的文件。</translation>
  </message>
  <message>
   <location filename="engine/hub/bundled.py" />
   <source>{name} is a model that ships with Tenon: give another name with --name.</source>
   <translation>{name} 是 Tenon 自带的模型：请用 --name 给出其他名称。</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>{name} is added.</source>
   <translation>已添加 {name}。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_files.py" />
   <source>{name} is being imported...</source>
   <translation>正在导入 {name}...</translation>
  </message>
  <message>
   <location filename="app/ui/composer/composer.py" />
   <source>{name} is being read</source>
   <translation>正在读取 {name}</translation>
  </message>
  <message>
   <location filename="engine/weights/head_checkpoint.py" />
   <source>{name} is damaged or holds more than weights; download it again, or choose another draft.</source>
   <translation>{name} 已损坏，或含有权重以外的内容；请重新下载，或选择另一个草稿。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is damaged, or no {title}: open it in another program and save it again.</source>
   <translation>{name} 已损坏，或不是 {title}：请用其他程序打开并重新保存。</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>{name} is damaged: {files}. Get or add it again.</source>
   <translation>{name} 已损坏：{files}。请重新获取或添加。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is empty: attach a file with text in it.</source>
   <translation>{name} 是空的：请附加有文本的文件。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is not UTF-8 text: save it as UTF-8, then attach it again.</source>
   <translation>{name} 不是 UTF-8 文本：请存为 UTF-8 后再附加。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{name} is not a GGUF file; download it again.</source>
   <translation>{name} 不是 GGUF 文件；请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>{name} is not a safetensors file ({why}); download it again.</source>
   <translation>{name} 不是 safetensors 文件（{why}）；请重新下载。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_news.py" />
   <source>{name} is not here yet. {message}</source>
   <translation>{name} 尚未到位。{message}</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is not there: choose the file again.</source>
   <translation>{name} 不存在：请重新选择文件。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/addon.py" />
   <source>{name} is older than what today's torch was built for: Tenon runs on the processor here.</source>
   <translation>{name} 太旧，当前的 torch 已不支持：Tenon 在本机使用处理器运行。</translation>
  </message>
  <message>
   <location filename="engine/gguf/parts.py" />
   <source>{name} is one part of a model, and part {number} is not there ({absent} of {count} parts are missing); put it beside the others, or download the model again.</source>
   <translation>{name} 是某个模型的一个分片，而缺少第 {number} 个分片（{count} 个分片中缺 {absent} 个）；请把它放到其他分片旁边，或重新下载模型。</translation>
  </message>
  <message>
   <location filename="engine/gguf/files.py" />
   <source>{name} is one piece of the GGUF file {whole}, which was cut up: join all of its pieces, in the order of their names, with `cat PIECE PIECE ... &gt; {whole}` (on Windows `copy /b PIECE+PIECE+... {whole}`), and choose that file.</source>
   <translation>{name} 是被切分的 GGUF 文件 {whole} 的一段：请按名称顺序用 `cat 片段 片段 ... &gt; {whole}`（Windows 上用 `copy /b 片段+片段+... {whole}`）合并所有片段，然后选择合并后的文件。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} is protected: save it without a password, then attach it again.</source>
   <translation>{name} 受密码保护：请另存为无密码的文件后再附加。</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_news.py" />
   <source>{name} is ready.</source>
   <translation>{name} 已就绪。</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>{name} is removed; {size} are free again.</source>
   <translation>已移除 {name}；释放了 {size}。</translation>
  </message>
  <message>
   <location filename="app/ui/attaching.py" />
   <source>{name} is still being read: send your message when it is there.</source>
   <translation>仍在读取 {name}：请等读取完成后再发送消息。</translation>
  </message>
  <message>
   <location filename="app/bridge/models/installed.py" />
   <source>{name} is still being read: wait for that, or stop it.</source>
   <translation>仍在读取 {name}：请等待，或停止它。</translation>
  </message>
  <message>
   <location filename="engine/hub/local_import.py" />
   <source>{name} is truncated or no safetensors file: download it again.</source>
   <translation>{name} 不完整，或不是 safetensors 文件：请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>{name} is truncated: {size_bytes} bytes are there, its header alone needs {needed}; download it again.</source>
   <translation>{name} 不完整：现有 {size_bytes} 字节，仅文件头就需要 {needed} 字节；请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/weights/safetensors_file.py" />
   <source>{name} is truncated: {size_bytes} bytes are there, {needed} are needed; download it again.</source>
   <translation>{name} 不完整：现有 {size_bytes} 字节，需要 {needed} 字节；请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/model/tensors.py" />
   <source>{name} is {found} and not {shape}</source>
   <translation>{name} 为 {found} 而非 {shape}</translation>
  </message>
  <message>
   <location filename="engine/hub/download/transfer.py" />
   <source>{name} of {repo} arrived damaged twice: try again later, or from another network or mirror.</source>
   <translation>{repo} 的 {name} 两次下载后均已损坏：请稍后再试，或换用其他网络或镜像。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{name} of {repo} has another length than the hub says: try again, or check the proxy or the mirror between.</source>
   <translation>{repo} 的 {name} 长度与 Hub 所示不符：请重试，或检查中间的代理或镜像。</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/wheel_index.py" />
   <source>{name} of {repo} has another length than the package index says: try again, or check the proxy or the mirror between.</source>
   <translation>{repo} 的 {name} 长度与软件包索引所示不符：请重试，或检查中间的代理或镜像。</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>{name} of {repo} is no JSON: choose another model.</source>
   <translation>{repo} 的 {name} 不是 JSON：请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>{name} of {repo} is no config: choose another model.</source>
   <translation>{repo} 的 {name} 不是配置：请选择其他模型。</translation>
  </message>
  <message>
   <location filename="engine/hub/inventory.py" />
   <source>{name} ships with Tenon and is no installed model: it can be neither removed nor verified.</source>
   <translation>{name} 随 Tenon 提供，不是已安装的模型：既不能移除，也不能检查。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} takes more than {most} MiB of memory to read: attach a part of it, or its text alone.</source>
   <translation>读取 {name} 需要超过 {most} MiB 内存：请附加其中一部分，或只附加文本。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} took longer than {seconds} s to read: attach a part of it, or its text alone.</source>
   <translation>读取 {name} 超过 {seconds} 秒：请附加其中一部分，或只附加文本。</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} unpacks to far more than a document has: attach its text alone.</source>
   <translation>{name} 解压后远大于正常文档：请只附加文本。</translation>
  </message>
  <message>
   <location filename="engine/unfinished_file.py" />
   <source>{name} was damaged: what can be read of it is in use, what is missing has to be entered again, and the damaged file is kept as {path}.</source>
   <translation>{name} 已损坏：其中可读取的部分继续使用，缺少的内容需要重新输入，损坏的文件保存为 {path}。</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>{name} was not imported.</source>
   <translation>{name} 未导入。</translation>
  </message>
  <message>
   <location filename="app/bridge/archive.py" />
   <source>{name} was not imported. {reason}</source>
   <translation>{name} 未导入。{reason}</translation>
  </message>
  <message>
   <location filename="engine/documents/reading.py" />
   <source>{name} was saved by Word before 2007: save it as DOCX, then attach it again.</source>
   <translation>{name} 由 2007 之前的 Word 保存：请另存为 DOCX，然后重新附加。</translation>
  </message>
  <message>
   <location filename="engine/text/attached_turns.py" />
   <source>{name}, page {page}</source>
   <translation>{name}，第 {page} 页</translation>
  </message>
  <message>
   <location filename="engine/text/attached_turns.py" />
   <source>{name}, pages {pages}</source>
   <translation>{name}，第 {pages} 页</translation>
  </message>
  <message>
   <location filename="app/ui/models/keeping.py" />
   <source>{name}: all files are what they were.</source>
   <translation>{name}：所有文件均未改变。</translation>
  </message>
  <message>
   <location filename="engine/sizes.py" />
   <source>{number} bytes</source>
   <translation>{number} 字节</translation>
  </message>
  <message>
   <location filename="app/ui/find_bar.py" />
   <source>{number} of {total}</source>
   <translation>{number} / {total}</translation>
  </message>
  <message>
   <location filename="engine/messages/modes.py" />
   <source>{option} is {value}, but {other} is {most}: choose a number that is not above it.</source>
   <translation>{option}是 {value}，但{other}是 {most}：请选择不高于它的数。</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>{option}: choose a number from {least} to {most}, not {value}.</source>
   <translation>{option}：请选择 {least} 到 {most} 之间的数，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>{option}: choose a whole number from {least} to {most}, not {value}.</source>
   <translation>{option}：请选择 {least} 到 {most} 之间的整数，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>{option}: choose true or false, not {value}.</source>
   <translation>{option}：请选择 true 或 false，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="engine/modes/__init__.py" />
   <source>{option}: choose {names}, or a whole number from {least} to {most}, not {value}.</source>
   <translation>{option}：请选择 {names}，或 {least} 到 {most} 的整数，而不是 {value}。</translation>
  </message>
  <message>
   <location filename="engine/placement/streamed_experts.py" />
   <source>{part} in memory, the others read from the disk when they are chosen</source>
   <translation>{part}在内存中，其余专家在选中时从磁盘读取</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{part} of {whole}</source>
   <translation>{part} / {whole}</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} cannot be opened ({reason}): close programs that you do not need, and try again.</source>
   <translation>无法打开 {path}（{reason}）：请关闭不需要的程序，然后重试。</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} cannot be read or written ({reason}): check the disk.</source>
   <translation>无法读取或写入 {path}（{reason}）：请检查磁盘。</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} cannot be read or written ({reason}): give yourself the rights, or choose another folder.</source>
   <translation>无法读取或写入 {path}（{reason}）：请为自己授予权限，或选择其他文件夹。</translation>
  </message>
  <message>
   <location filename="engine/hub/record.py" />
   <source>{path} cannot be read: download or import the model again.</source>
   <translation>无法读取 {path}：请重新下载或导入模型。</translation>
  </message>
  <message>
   <location filename="engine/gguf/header.py" />
   <source>{path} cannot be read: {reason}.</source>
   <translation>无法读取 {path}：{reason}。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{path} cannot be read; download it again.</source>
   <translation>无法读取 {path}；请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} cannot be written, because the disk is full: free some room.</source>
   <translation>无法写入 {path}，因为磁盘已满：请腾出空间。</translation>
  </message>
  <message>
   <location filename="engine/weights/checkpoint.py" />
   <source>{path} does not hold a config; download it again.</source>
   <translation>{path} 中没有配置；请重新下载。</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} is not there: it was moved, or its disk was taken out. Put it back, or choose another.</source>
   <translation>{path} 不在原处：它被移动了，或其磁盘已取出。请将其放回，或另选一个。</translation>
  </message>
  <message>
   <location filename="engine/file_trouble.py" />
   <source>{path} stands in the way ({reason}): move it elsewhere.</source>
   <translation>{path} 占用了该位置（{reason}）：请将其移到别处。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{path} stands in the way: move it elsewhere.</source>
   <translation>{path} 占用了该位置：请将其移到别处。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/votes_view.py" />
   <source>{percent} % held, weight {weight}</source>
   <translation>{percent} % 成立，权重 {weight}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/acceptance_plot.py" />
   <source>{percent} at position {place}</source>
   <translation>位置 {place} 为 {percent}</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{place} holds an adapter of a kind that Tenon does not run: of adapters it takes prompt tokens alone. Choose the model with the adapter merged into it.</source>
   <translation>{place} 含有 Tenon 不能运行的适配器：适配器中只支持提示词元。请选择已合并该适配器的模型。</translation>
  </message>
  <message>
   <location filename="app/storage/failures.py" />
   <source>{place} is not there any more: it was moved, or its disk was taken out. Put it back, and what is here is saved in it.</source>
   <translation>{place} 已不在原处：它被移动了，或其磁盘已取出。请将其放回，这里的内容就会保存进去。</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{place}: {part} of {whole} GB: {shares}</source>
   <translation>{place}：{part} / {whole} GB：{shares}</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>{problem} Nothing of this session is saved.</source>
   <translation>{problem} 本次会话不会保存。</translation>
  </message>
  <message>
   <location filename="app/ui/models/models_page.py" />
   <source>{problem} The catalogue and your own models are still here.</source>
   <translation>{problem} 目录和已有的模型仍在。</translation>
  </message>
  <message>
   <location filename="engine/hub/installed.py" />
   <source>{reference} is not on this computer. The catalogue has {names}: download on the page Models or with `tenon models get`.</source>
   <translation>{reference} 不在此计算机上。目录中有 {names}：请在“模型”页面或用 `tenon models get` 下载。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{repo} has no such revision any more: get it again at its present one.</source>
   <translation>{repo} 已没有该修订版本：请重新获取其当前修订版本。</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} has no {quantization}: its files name none.</source>
   <translation>{repo} 没有 {quantization}：其文件未注明任何量化。</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} has no {quantization}: there are {others}.</source>
   <translation>{repo} 没有 {quantization}：可选的有 {others}。</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} holds no GGUF files: look for its GGUF version with `tenon models search`, or take --format safetensors.</source>
   <translation>{repo} 中没有 GGUF 文件：请用 `tenon models search` 查找其 GGUF 版本，或使用 --format safetensors。</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} holds no weights that Tenon reads: choose a repository with safetensors or GGUF files.</source>
   <translation>{repo} 中没有 Tenon 可读取的权重：请选择含有 safetensors 或 GGUF 文件的仓库。</translation>
  </message>
  <message>
   <location filename="engine/hub/selection.py" />
   <source>{repo} holds weights in PyTorch's own format alone: choose a repository with safetensors or GGUF files.</source>
   <translation>{repo} 中只有 PyTorch 自有格式的权重：请选择含有 safetensors 或 GGUF 文件的仓库。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{repo} is gated, and Tenon sends no access token to {endpoint}, because the connection is not encrypted: set HF_ENDPOINT to an address that begins with https.</source>
   <translation>{repo} 需授权，而 Tenon 不会向 {endpoint} 发送访问令牌，因为该连接未加密：请将 HF_ENDPOINT 设为以 https 开头的地址。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{repo} is gated, and your access token's account has not been let in: accept its terms at {page}, wait until its owner agrees, and try again.</source>
   <translation>{repo} 需授权，而访问令牌所属的账号尚未获准：请在 {page} 接受其条款，等所有者同意后重试。</translation>
  </message>
  <message>
   <location filename="engine/hub/answers.py" />
   <source>{repo} is gated: accept its terms at {page}, then keep an access token of your account with `tenon models token`.</source>
   <translation>{repo} 需授权：请在 {page} 接受其条款，然后用 `tenon models token` 保存账号的访问令牌。</translation>
  </message>
  <message>
   <location filename="engine/hub/connection.py" />
   <source>{repo} is no repository of the hub: write it like owner/name.</source>
   <translation>{repo} 不是 Hub 的仓库：请写成 owner/name 的形式。</translation>
  </message>
  <message>
   <location filename="engine/hub/outline.py" />
   <source>{repo} says nothing of the model's shape before it is downloaded: get it first.</source>
   <translation>下载之前无法从 {repo} 得知模型的结构：请先获取它。</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>{resident} for {name} weights and {context} tokens of context</source>
   <translation>{resident}（{name} 权重和 {context} 个 token 的上下文）</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>{resident} for {name} weights and {context} tokens of context, or {least} when its layers are read from the disk for each token</source>
   <translation>{resident}（{name} 权重和 {context} 个 token 的上下文），若每个 token 都从磁盘读取各层则需要 {least}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/width_panel.py" />
   <source>{rows}, chosen</source>
   <translation>{rows}，已选</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{seconds} s left</source>
   <translation>还剩 {seconds} 秒</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} cannot be reached at {address}: check the address and the network, and whether it runs.</source>
   <translation>无法通过 {address} 连接 {server}：请检查地址和网络，以及它是否在运行。</translation>
  </message>
  <message>
   <location filename="engine/remote/remote_reply.py" />
   <source>{server} cut the reply by a filter of its own.</source>
   <translation>{server} 用自己的过滤器截断了回复。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} did not answer in time: try again when it has less to do.</source>
   <translation>{server} 没有及时回答：请在它不那么忙时重试。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} did not bring the reply on within {minutes} minutes, so it was ended here: try again when the server has less to do.</source>
   <translation>{server} 在 {minutes} 分钟内没有把回复写下去，因此在这里结束了它：请在服务器不那么忙时重试。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} does not accept the key: add the server again with the right one.</source>
   <translation>{server} 不接受该密钥：请用正确的密钥重新添加服务器。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} ended the reply before its first word: shorten the message, which may be longer than the model's context there, or look into the server's log.</source>
   <translation>{server} 在第一个字之前就结束了回复：请缩短消息（它可能超出那里模型的上下文），或查看服务器日志。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} failed with the status {status}: try again.</source>
   <translation>{server} 失败，状态为 {status}：请重试。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} has no model {model} any more: choose another one of its models.</source>
   <translation>{server} 不再有模型 {model}：请选择它的其他模型。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} has too much to do: try again in a minute.</source>
   <translation>{server} 太忙：请一分钟后重试。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} has too much to do: try again in {seconds} s.</source>
   <translation>{server} 太忙：请在 {seconds} 秒后重试。</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/models/keeping.py" />
   <source>{server} is added, with %n model(s).</source>
   <translation>
    <numerusform>已添加 {server}，共 %n 个模型。</numerusform>
   </translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} is starting, or has no room for another request ({status}): try again in a minute.</source>
   <translation>{server} 正在启动，或没有余力处理更多请求（{status}）：请一分钟后重试。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} refused the request ({status}): {words}</source>
   <translation>{server} 拒绝了请求（{status}）：{words}</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} sends every request on to {place}, and Tenon sends neither your words nor the key after it: add that address if it is the right one.</source>
   <translation>{server} 把所有请求转到 {place}，Tenon 不会把您的文字或密钥跟着发过去：如果那是正确的地址，请添加它。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} sent more than {size} at once, which is no part of a reply: check the address, and what stands between it and this computer.</source>
   <translation>{server} 一次发送了超过 {size}，这不是回复的一部分：请检查地址，以及它与这台计算机之间的设备。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} sent something that is no part of a reply: try again, or check what stands between it and this computer.</source>
   <translation>{server} 发来的内容不是回复的一部分：请重试，或检查它与本机之间的设备。</translation>
  </message>
  <message>
   <location filename="engine/remote/failures.py" />
   <source>{server} wants a key: add the server again with one.</source>
   <translation>{server} 需要密钥：请填写密钥后重新添加服务器。</translation>
  </message>
  <message>
   <location filename="engine/remote/remote_reply.py" />
   <source>{server} wrote on past the limit of the reply, so Tenon ended it there.</source>
   <translation>{server} 写过了回复的上限，因此 Tenon 在那里结束了它。</translation>
  </message>
  <message>
   <location filename="engine/placement/columns.py" />
   <source>{share} % of each layer's columns on the GPU, the others in memory</source>
   <translation>每层 {share} % 的列在 GPU 上，其余在内存中</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/memory_bar.py" />
   <source>{share} read for each step</source>
   <translation>每步读取 {share}</translation>
  </message>
  <message>
   <location filename="app/ui/transcript/long_text.py" />
   <source>{shown} of {all} characters are shown</source>
   <translation>已显示 {all} 个字符中的 {shown} 个</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>{size} GB of memory</source>
   <translation>{size} GB 内存</translation>
  </message>
  <message>
   <location filename="app/ui/machine/plan_table.py" />
   <source>{size} GB on the GPU</source>
   <translation>GPU 上 {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>{size} GB on {device}</source>
   <translation>{device} 上 {size} GB</translation>
  </message>
  <message>
   <location filename="app/ui/models/folders_dialog.py" />
   <source>{size} are copied there, compared, and then deleted where they are now.</source>
   <translation>将复制 {size} 到那里，核对后再从原位置删除。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{size} free</source>
   <translation>可用 {size}</translation>
  </message>
  <message>
   <location filename="app/ui/models/model_dialog.py" />
   <source>{size} of it are here and would be removed. Paused, it can go on later.</source>
   <translation>其中 {size} 已在本机，将被移除。暂停则可稍后继续。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{size} of swap</source>
   <translation>{size} 交换空间</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{source} cannot be changed: check who owns it.</source>
   <translation>无法更改 {source}：请检查其所有者。</translation>
  </message>
  <message>
   <location filename="engine/hub/other_programs.py" />
   <source>{source} has no model {name} on this computer any more: choose another one, or get it again there.</source>
   <translation>{source} 在本机已没有模型 {name}：请选择其他模型，或在那里重新获取。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{source} is not there: plug its disk in, and move the models then.</source>
   <translation>{source} 不存在：请接上它所在的磁盘，然后再移动模型。</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{speeds}; {texts}.</source>
   <translation>{speeds}；{texts}。</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{speed}: no other mode was faster.</source>
   <translation>{speed}：没有其他模式更快。</translation>
  </message>
  <message>
   <location filename="app/ui/models/wording.py" />
   <source>{taken} of {room} GB</source>
   <translation>{taken} / {room} GB</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{target} is a file: choose a folder.</source>
   <translation>{target} 是文件：请选择文件夹。</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{target} is not empty: choose an empty folder, or make a new one in it.</source>
   <translation>{target} 不是空的：请选择空文件夹，或在其中新建一个。</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{tau} tokens/step</source>
   <translation>{tau} token/步</translation>
  </message>
  <message>
   <location filename="engine/hub/model_move.py" />
   <source>{there} cannot be written to: choose another folder.</source>
   <translation>无法写入 {there}：请选择其他文件夹。</translation>
  </message>
  <message>
   <location filename="app/ui/figures.py" />
   <source>{times} times plain</source>
   <translation>普通的 {times} 倍</translation>
  </message>
  <message>
   <location filename="app/ui/comparison/wording.py" />
   <source>{time} in all</source>
   <translation>共 {time}</translation>
  </message>
  <message>
   <location filename="engine/gpu_addon/installation.py" />
   <source>{title} needs the address of a package index: {caution}</source>
   <translation>{title} 需要软件包索引的地址：{caution}</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/line_plot.py" />
   <source>{title} over the reply: {words}</source>
   <translation>回复期间的{title}：{words}</translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>{title}, folded, %n chat(s)</source>
   <translation>
    <numerusform>{title}，已折叠，%n 个对话</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="app/ui/sidebar/conversation_model.py" />
   <source>{title}, unfolded, %n chat(s)</source>
   <translation>
    <numerusform>{title}，已展开，%n 个对话</numerusform>
   </translation>
  </message>
  <message>
   <location filename="app/ui/machine/gpu_section.py" />
   <source>{title}: {size} to fetch from {address}, {unpacked} on the disk</source>
   <translation>{title}：从 {address} 获取 {size}，占用磁盘 {unpacked}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{tokens} tokens</source>
   <translation>{tokens} 个 token</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/draft_tree.py" />
   <source>{token}, found likely by {percent} %</source>
   <translation>{token}，预期概率 {percent} %</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>{token}, guessed by {members}</source>
   <translation>{token}，由 {members} 猜测</translation>
  </message>
  <message>
   <location filename="app/ui/inspector/token_view.py" />
   <source>{token}, step {number}</source>
   <translation>{token}，第 {number} 步</translation>
  </message>
  <message>
   <location filename="app/ui/machine/words.py" />
   <source>{total}, {free} free</source>
   <translation>{total}，可用 {free}</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>{unit} predicted</source>
   <translation>{unit} 预测</translation>
  </message>
  <message>
   <location filename="app/ui/models/card.py" />
   <source>{unit}, a guess</source>
   <translation>{unit}，估计</translation>
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>{used} of {limit} tokens</source>
   <translation>{used} / {limit} 个 token</translation>
  </message>
  <message>
   <location filename="app/ui/composer/context_meter.py" />
   <source>{used} of {limit} tokens of the model's context are in use</source>
   <translation>模型上下文已用 {used} / {limit} 个 token</translation>
  </message>
  <message>
   <location filename="app/ui/settings/number_box.py" />
   <source>{value} is the least that can be set here.</source>
   <translation>此处最小可设为 {value}。</translation>
  </message>
  <message>
   <location filename="app/ui/settings/number_box.py" />
   <source>{value} is the most that can be set here.</source>
   <translation>此处最大可设为 {value}。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>{value} tokens</source>
   <translation>{value} 个 token</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>{value}, as the model's makers advise</source>
   <translation>{value}，模型作者的建议值</translation>
  </message>
  <message>
   <location filename="app/ui/chat_settings/dialog.py" />
   <source>{value}, the usual value</source>
   <translation>{value}，默认值</translation>
  </message>
  <message>
   <location filename="engine/kernels/library.py" />
   <source>{variable} names no instruction set of this architecture: {cap}.</source>
   <translation>{variable} 指定的不是此架构的指令集：{cap}。</translation>
  </message>
  <message>
   <location filename="app/ui/model_button.py" />
   <source>{weights}, draft {draft}</source>
   <translation>{weights}，草稿 {draft}</translation>
  </message>
  <message>
   <location filename="app/ui/machine/shared_text.py" />
   <source>{weights}: reads {rate} of weights, {products} billion products/s</source>
   <translation>{weights}：读取权重 {rate}，每秒 {products} 十亿次乘积</translation>
  </message>
  <message>
   <location filename="app/chat/modes.py" />
   <source>{what} Draft: {draft}</source>
   <translation>{what} 草稿：{draft}</translation>
  </message>
  <message>
   <location filename="engine/planning/load_plan.py" />
   <source>{where}, 8-bit cache (lossy)</source>
   <translation>{where}，8 位缓存（有损）</translation>
  </message>
  <message>
   <location filename="app/ui/chat_folders.py" />
   <source>“{name}” was there already: its chats and these are together now.</source>
   <translation>“{name}”已存在：其对话与这些已合并。</translation>
  </message>
  <message>
   <location filename="app/ui/chat_shelf.py" />
   <source>“{title}” is in the trash for {days} days.</source>
   <translation>“{title}”将在回收站中保留 {days} 天。</translation>
  </message>
  <message>
   <location filename="app/bridge/workspace.py" />
   <source>“{title}” was not opened by itself, because Tenon ended while it was shown: open it from the list, or delete it.</source>
   <translation>“{title}”未自动打开，因为上次显示它时 Tenon 意外退出：请从列表中打开它，或将其删除。</translation>
  </message>
  <message>
   <location filename="app/ui/link_question.py" />
   <source>“{user}” is sent to it as a user name: it is not the site.</source>
   <translation>“{user}” 会作为用户名发送给它，并不是网站本身。</translation>
  </message>
 </context>
</TS>
