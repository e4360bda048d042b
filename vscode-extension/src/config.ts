/** The settings, as package.json describes them. */
import * as vscode from "vscode";

export type SaveAfterAccept = "never" | "ifClean" | "always";
export type Notify = "never" | "unfocused" | "elsewhere" | "always";

const section = (scope?: vscode.Uri) => vscode.workspace.getConfiguration("hashline", scope ?? null);

export const config = {
  binary: () => section().get<string>("binary", ""),
  binaryHash: () => section().get<string>("binaryHash", ""),
  notify: () => section().get<Notify>("notify", "elsewhere"),
  saveAfterAccept: (file: vscode.Uri) => section(file).get<SaveAfterAccept>("saveAfterAccept", "never"),
  inline: (file: vscode.Uri) => section(file).get<boolean>("inline", true),
  lenses: (file: vscode.Uri) => section(file).get<boolean>("lenses", true),

  /** The part that the sidecar needs, of a folder or of none, under the names that it has in every editor. */
  forSidecar: (folder?: vscode.Uri) => {
    const settings = section(folder);
    return {
      mode: {
        open: settings.get("mode.open"),
        disk: settings.get("mode.disk"),
        rules: settings.get("mode.rules"),
        hold: settings.get("mode.hold"),
      },
      saveAfterAccept: settings.get("saveAfterAccept"),
      diagnostics: settings.get("diagnostics"),
      noHardLinks: settings.get("noHardLinks"),
      ideLink: settings.get("ideLink"),
      http: { listen: settings.get("http.listen") },
    };
  },
};
