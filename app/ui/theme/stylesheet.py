"""One style sheet per theme, made from the palette and the type scale.

Widgets name their part by a dynamic property ``kind``; what QSS cannot draw is painted by the widget itself.
"""

from __future__ import annotations

from string import Template

from PySide6.QtWidgets import QWidget

from app.ui.theme.palette import Palette
from app.ui.theme.typography import TextStyle, Typography

_SHEET = Template(
    """
* { outline: 0; }
QMainWindow, QDialog, QWidget[kind="page"] { background: $bg; }
QWidget[kind="sidebar"] { background: $side; border-right: 1px solid $line; }
QWidget[kind="foot"] { background: transparent; border-top: 1px solid $line; }
QToolButton[kind="nav"] { border-radius: 8px; padding: 0 8px; text-align: left; font-weight: $medium; color: $sub; }
QToolButton[kind="nav"]:hover { background: $hover; }
QToolButton[kind="nav"]:checked { background: $accs; color: $acct; }
QWidget[kind="inspector"] { background: $side; border-left: 1px solid $line; }
QWidget[kind="inspector"] QScrollArea, QWidget[kind="inspector"] QGraphicsView {
  background: transparent; border: 0; }
QFrame[kind="find"] { background: $surf; border: 0; border-bottom: 1px solid $line; }
QWidget[kind="header"] { background: $bg; border-bottom: 1px solid $line; }
QScrollArea, QScrollArea > QWidget > QWidget[kind="column"] { background: $bg; border: 0; }
QToolTip {
    background: $raised; color: $text; border: 1px solid $line; padding: 4px 6px; qproperty-textFormat: PlainText;
}

QLabel { background: transparent; }
QLabel[kind="title"] { font-size: ${section}px; font-weight: 600; }
QLabel[kind="page-title"] { font-size: ${page}px; font-weight: 600; }
QLabel[kind="section"] { font-size: ${section}px; font-weight: 600; }
QLabel[kind="display"] { font-size: ${display}px; font-weight: 600; }
QLabel[kind="lead"] { font-size: ${reading}px; color: $sub; }
QLabel[kind="small"] { font-size: ${small}px; color: $mute; }
QLabel[kind="badge"] {
  background: $press; border-radius: 6px; padding: 1px 5px; font-size: ${small}px; font-weight: 600; color: $text; }
QLabel[kind="sub"] { color: $sub; }
QLabel[kind="meter"] { font-size: ${small}px; color: $sub; }
QLabel[kind="notice"] { font-size: ${small}px; color: $sub; }
QLabel[kind="notes"] { font-size: ${small}px; color: $sub; border-top: 1px solid $line; }
QLabel[kind="file"] { font-size: ${small}px; font-weight: 600; color: $sub; }
QLabel[kind="strong"] { font-weight: 600; }
QLabel[kind="key"] {
  background: $surf; border: 1px solid $line; border-radius: 6px; padding: 2px 7px; font-size: ${small}px;
  color: $sub; }
QLabel[kind="label"] { font-weight: $medium; }
QLabel[kind="group"] { font-size: ${small}px; font-weight: 600; color: $mute; }

QToolButton { background: transparent; border: 0; border-radius: 8px; color: $text; padding: 0; }
QToolButton:hover { background: $hover; }
QToolButton[kind="toggle"]:checked { background: $accs; }
QToolButton:pressed, QToolButton:open { background: $press; }
QToolButton:disabled { color: $mute; }
QToolButton[kind="quiet"] { color: $sub; font-size: ${small}px; font-weight: $medium; padding: 4px 8px; }
QToolButton[kind="file"] {
  background: $bg; border: 1px solid $line; border-radius: 8px; color: $text; font-size: ${small}px; padding: 0 8px; }
QToolButton[kind="file"]:hover { background: $hover; }
QToolButton[kind="thought"] { color: $sub; font-size: ${small}px; font-weight: $medium; padding: 4px 8px 4px 0; }
QToolButton[kind="labelled"], QPushButton {
  background: $raised; border: 1px solid $btn; border-radius: 8px; color: $text;
  font-weight: $medium; padding: 0 12px; min-height: ${button}px; max-height: ${button}px; }
QToolButton[kind="labelled"]:hover, QPushButton:hover { background: $hover; }
QToolButton[kind="labelled"]:pressed, QPushButton:pressed { background: $press; }
QPushButton:disabled, QToolButton[kind="labelled"]:disabled {
  background: $surf; border-color: $line; color: $mute; }
QPushButton[kind="primary"] {
  background: $acc; border: 1px solid $acc; color: $onacc; font-weight: 600; border-radius: 8px; }
QPushButton[kind="primary"]:hover:hover { background: $acc_hover; border-color: $acc_hover; }
QPushButton[kind="primary"]:pressed:pressed { background: $acc_press; border-color: $acc_press; }
QPushButton[kind="primary"]:disabled:disabled { background: $surf; border-color: $line; color: $mute; }
QPushButton[kind="danger"]:enabled { background: $reds; border: 1px solid $red; color: $red; font-weight: 600; }
QPushButton[kind="danger"]:enabled:hover { border: 2px solid $red; padding: 0 11px; }
QPushButton[kind="link"] { background: transparent; border-color: transparent; color: $acc; padding: 0 6px; }
QPushButton[kind="link"]:hover { background: transparent; border-color: $acc; }
QPushButton[kind="new"] { text-align: left; font-weight: $medium; padding: 0 11px; }
QPushButton[kind="example"] { color: $sub; text-align: left; font-weight: 400; padding: 0 14px; }
QPushButton[kind="example"]:hover { color: $text; }

QLineEdit {
  background: $bg; border: 1px solid $ctl; border-radius: 8px; padding: 0 7px; color: $text;
  min-height: ${field}px; max-height: ${field}px; selection-background-color: $acc; }
QLineEdit:hover { border-color: $sub; }
QLineEdit:focus { border: 2px solid $acc; padding: 0 6px; min-height: ${field2}px; max-height: ${field2}px; }
QLineEdit[kind="rename"] {
  min-height: 0; max-height: 99px; border: 2px solid $acc; border-radius: 6px; padding: 0 4px; }

QDoubleSpinBox, QComboBox {
  background: $bg; border: 1px solid $ctl; border-radius: 8px; padding: 0 8px; color: $text;
  min-height: ${field}px; max-height: ${field}px; selection-background-color: $acc; }
QDoubleSpinBox QLineEdit {
  background: transparent; border: 0; padding: 0 7px; min-height: 0; max-height: 999px; }
QDoubleSpinBox::up-button, QDoubleSpinBox::down-button { width: 0; border: 0; }
QDoubleSpinBox:hover, QComboBox:hover { border-color: $sub; }
QDoubleSpinBox:focus, QComboBox:focus {
  border: 2px solid $acc; padding: 0 7px; min-height: ${field2}px; max-height: ${field2}px; }
QDoubleSpinBox:disabled, QComboBox:disabled { background: $surf; border-color: $line; color: $mute; }
QComboBox::drop-down { border: 0; width: 28px; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView {
  background: $raised; border: 1px solid $btn; color: $text; padding: 4px; }
QComboBox QAbstractItemView::item { min-height: ${row_button}px; padding: 0 8px; border-radius: 6px; color: $text; }
QComboBox QAbstractItemView::item:hover { background: $hover; }
QComboBox QAbstractItemView::item:selected { background: $accs; color: $acct; }
QCheckBox::indicator { width: 18px; height: 18px; }

QLineEdit:disabled { background: $surf; border-color: $line; color: $mute; }

QFrame[kind="segments"] { background: $side; border: 1px solid $btn; border-radius: 8px; }
QToolButton[kind="segment"] {
  border: 1px solid transparent; border-radius: 6px; color: $sub; padding: 0 10px;
  min-height: ${segment}px; max-height: ${segment}px; }
QToolButton[kind="segment"]:hover { color: $text; }
QToolButton[kind="segment"]:checked {
  background: $raised; border-color: $btn; color: $text; font-weight: $medium; }
QFrame[kind="dialog-nav"] { background: $side; border: 0; border-right: 1px solid $line; }
QListView[kind="pages"] { background: transparent; border: 0; }
QListView[kind="pages"]::item { border-radius: 8px; padding: 0 8px; height: ${nav}px; color: $text; }
QListView[kind="pages"]::item:hover { background: $hover; }
QListView[kind="pages"]::item:selected { background: $accs; color: $text; }
QListView[kind="pages"]::item:focus { border: 2px solid $acc; padding: 0 6px; }

QListView[kind="conversations"] { background: transparent; border: 0; }
QListView[kind="choices"] { background: $raised; border: 0; }
QFrame[kind="chip"] { background: $accs; border: 0; border-radius: 6px; }
QFrame[kind="chip"] QLabel { color: $acct; font-weight: $medium; }
QMenu { background: $raised; border: 1px solid $btn; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 10px; border-radius: 6px; color: $text; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { color: $mute; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: $line; margin: 4px 6px; }

QLineEdit, QPlainTextEdit { placeholder-text-color: $mute; }
QPlainTextEdit[kind="prompt"] {
  background: transparent; border: 0; color: $text; selection-background-color: $acc;
  selection-color: $onacc; }
QFrame[kind="rule"] { background: $line; border: 0; }
QPlainTextEdit[kind="field"] {
  background: $bg; border: 1px solid $ctl; border-radius: 8px; padding: 4px 6px; color: $text;
  selection-background-color: $acc; selection-color: $onacc; }
QPlainTextEdit[kind="field"]:hover { border-color: $sub; }
QPlainTextEdit[kind="field"]:focus { border: 2px solid $acc; padding: 3px 5px; }
QPlainTextEdit[kind="field"]:disabled { background: $surf; border-color: $line; color: $mute; }
QFrame[kind="card"] { background: $surf; border: 1px solid $line; border-radius: 8px; }
QFrame[kind="panel"] { background: $raised; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="result"] { background: $accs; border: 0; border-radius: 10px; }
QFrame[kind="result"] QLabel { color: $acct; }
QFrame[kind="card-head"] {
  background: $surf; border: 0; border-bottom: 1px solid $line;
  border-top-left-radius: 7px; border-top-right-radius: 7px; }
QFrame[kind="dialog-foot"] { background: $surf; border: 0; border-top: 1px solid $line; }
QPlainTextEdit[kind="card"] {
  background: $surf; border: 1px solid $line; border-radius: 8px; color: $sub; padding: 4px;
  selection-background-color: $acc; selection-color: $onacc; }
QPlainTextEdit[kind="details"] {
  background: transparent; border: 0; color: $text; padding: 6px; selection-background-color: $acc;
  selection-color: $onacc; }
QFrame[kind="bubble"] { background: $accs; border: 0; border-radius: 10px; }
QFrame[kind="error"] { background: $reds; border: 1px solid $red; border-radius: 10px; }
QFrame[kind="unsaved"] { background: $reds; border: 0; border-bottom: 1px solid $red; }
QFrame[kind="toast"] { background: $raised; border: 1px solid $btn; border-radius: 10px; }
QFrame[kind="model-card"] { background: $raised; border: 1px solid $line; border-radius: 10px; }
QFrame[kind="rows"] { background: $raised; border: 1px solid $line; border-radius: 10px; }
QLabel[kind="bad"] { color: $red; }
QLabel[kind="warning"] { background: $maps; color: $mapt; border-radius: 8px; padding: 8px 12px; }
QLabel:disabled { color: $mute; }
QPushButton[kind="row"] { min-height: ${row_button}px; max-height: ${row_button}px; }
QToolButton[kind="filter"] {
  background: $raised; border: 1px solid $btn; border-radius: 8px; font-weight: $medium; padding: 0 10px;
  min-height: ${button}px; max-height: ${button}px; }
QToolButton[kind="filter"]:hover { background: $hover; }
QToolButton[kind="filter"]:checked { background: $accs; border-color: $accs; color: $acct; }
QTextBrowser, QTextEdit {
  background: transparent; border: 0; color: $text; selection-background-color: $acc;
  selection-color: $onacc; }

QFrame QScrollArea { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: 0; }
QScrollBar { background: transparent; border: 0; margin: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: $press; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::handle:hover { background: $g3; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""
)


def stylesheet(palette: Palette, type_scale: Typography) -> str:
    """Return the style sheet of a theme at a font size."""
    px = type_scale.px
    colors = {name: value for name, value in vars(palette).items() if isinstance(value, str)}
    return _SHEET.substitute(
        colors,
        medium=type_scale.medium_weight,
        display=px(TextStyle.DISPLAY.value[0]),
        page=px(TextStyle.PAGE.value[0]),
        section=px(TextStyle.SECTION.value[0]),
        reading=px(TextStyle.READING.value[0]),
        small=px(TextStyle.SMALL.value[0]),
        button=px(30),
        row_button=px(26),
        field=px(30),
        field2=px(28),
        segment=px(24),
        nav=px(34),
    )


def set_kind(widget: QWidget, kind: str) -> None:
    """Give a widget another kind."""
    if widget.property("kind") != kind:
        widget.setProperty("kind", kind)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
