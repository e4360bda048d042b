/** Rows of trees: what one looks like, and what is read aloud of it. */
import * as vscode from "vscode";
import { fileChangeOf } from "../review/fileChange";
import { isInText } from "../review/hunks";
import type { Node } from "../review/tree";

export function itemOf(node: Node, fold: vscode.TreeItemCollapsibleState): vscode.TreeItem {
  const item = new vscode.TreeItem(node.label, fold);
  item.id = node.id;
  item.description = node.description;
  item.contextValue = node.context;
  item.accessibilityInformation = { label: node.spoken };
  item.iconPath = iconOf(node);
  if (node.kind === "file" && node.document) {
    item.resourceUri = vscode.Uri.parse(node.document.uri);
  } else if (node.kind === "hunk") {
    item.tooltip = tooltipOf(node);
    item.command = { title: "Show", command: "hashline.showHunk", arguments: [node] };
  }
  return item;
}

function iconOf(node: Node): vscode.ThemeIcon {
  switch (node.kind) {
    case "agent":
    case "edit":
      return new vscode.ThemeIcon("hubot");
    case "conversation":
      return new vscode.ThemeIcon("comment-discussion");
    case "file":
      return vscode.ThemeIcon.File;
    case "hunk":
      return hunkIcon(node);
  }
}

function hunkIcon({ entry }: Node): vscode.ThemeIcon {
  const colored = (icon: string, color: string) => new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
  const hunk = entry?.hunk;
  if (!hunk || hunk.deciding) {
    return new vscode.ThemeIcon("clock");
  }
  if (hunk.decision !== "undecided") {
    return isInText(hunk)
      ? colored("check", "gitDecoration.addedResourceForeground")
      : colored("circle-slash", "disabledForeground");
  }
  if (hunk.state === "conflicted") {
    return colored("warning", "hashline.conflictedForeground");
  }
  switch (fileChangeOf(hunk)?.kind) {
    case undefined:
      break;
    case "create":
      return colored("new-file", "gitDecoration.addedResourceForeground");
    case "remove":
      return colored("trash", "gitDecoration.deletedResourceForeground");
    default:
      return new vscode.ThemeIcon("file-symlink-file");
  }
  if (hunk.removed.length === 0) {
    return colored("diff-added", "gitDecoration.addedResourceForeground");
  }
  return hunk.proposed.length === 0
    ? colored("diff-removed", "gitDecoration.deletedResourceForeground")
    : colored("diff-modified", "gitDecoration.modifiedResourceForeground");
}

/** Why the agent made the hunk, and the hunk as a diff; an agent's text is no markup. */
function tooltipOf({ entry, description }: Node): vscode.MarkdownString | undefined {
  if (!entry) {
    return undefined;
  }
  const { edit, hunk } = entry;
  const tooltip = new vscode.MarkdownString();
  if (hunk.decision !== "undecided") {
    tooltip.appendText(description).appendMarkdown("\n\n"); // which a long label leaves no room for
  }
  if (edit.reason) {
    tooltip.appendText(edit.reason).appendMarkdown("\n\n");
  }
  if (hunk.file !== null) {
    return edit.reason ? tooltip : undefined;
  }
  if (hunk.conflict !== null) {
    tooltip.appendText(hunk.conflict).appendMarkdown("\n\n");
  }
  const diff = [...hunk.removed.map((line) => `-${line}`), ...hunk.proposed.map((line) => `+${line}`)];
  return tooltip.appendCodeblock(diff.slice(0, 40).join("\n"), "diff");
}
