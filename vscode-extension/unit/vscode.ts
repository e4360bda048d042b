/** What stands for VS Code in these tests: as much of it as is asked for, and a person who answers as a test says. */

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of this.listeners) {
      listener(value);
    }
  }
  dispose(): void {
    this.listeners.clear();
  }
}

interface Item {
  label: string;
}

export const Disposable = {
  from: (...parts: readonly { dispose(): void }[]) => ({
    dispose: () => {
      for (const part of parts) {
        part.dispose();
      }
    },
  }),
};

export const StatusBarAlignment = { Left: 1, Right: 2 };

export const TaskScope = { Global: 1 };

export class TabInputText {
  constructor(readonly uri: { toString(): string }) {}
}
export class TabInputTextDiff {}
export class TabInputCustom {}

/** What is open in the window. */
export const tabs = {
  inputs: [] as TabInputText[],
  changed: new EventEmitter<void>(),
};

/** The person: what they choose, what they were told, and the settings that were looked at, with what they were asked for. */
export const person = {
  choose: (_items: readonly Item[]): Item | undefined => undefined,
  /** What they type where they are asked for text. */
  typed: "",
  /** They choose before what they typed has come into a list. */
  isFast: false,
  told: [] as string[],
  /** The files that they have before them. */
  sees: [] as string[],
  isFocused: true,
  settings: new Map<string, unknown>(),
};

/** What the person has set, by the whole name. */
export const settings = new Map<string, unknown>();

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}
export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(line: number, character: number, endLine: number, endCharacter: number) {
    this.start = new Position(line, character);
    this.end = new Position(endLine, endCharacter);
  }
}
export class CodeLens {
  constructor(
    readonly range: Range,
    readonly command: unknown,
  ) {}
}
export class Selection {
  constructor(
    readonly anchor: Position,
    readonly active: Position,
  ) {}
}
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 };

export const Uri = {
  parse: (uri: string) => ({ scheme: uri.split(":", 1)[0], toString: () => uri }),
};

/** What the window was sent, in this order: it does it later, and tells of it later still. */
export const sent: string[] = [];

export const commands = {
  executeCommand: async (...command: readonly unknown[]) => void sent.push(command.join(" ")),
};

const noEvent = new EventEmitter<never>().event;

/** A tree, as far as it is looked at. */
class TreeView {
  visible = false;
  description: string | undefined;
  message: string | undefined;
  badge: unknown;
  readonly visibility = new EventEmitter<void>();
  readonly onDidChangeVisibility = this.visibility.event;
  dispose(): void {
    this.visibility.dispose();
  }
}

/** The trees that were made. */
export const trees = { last: new TreeView() };

/** An editor over a document whose lines are all alike. */
function editorOver(uri: { toString(): string }) {
  const line = { firstNonWhitespaceCharacterIndex: 0 };
  return {
    document: { uri, lineCount: 10, lineAt: () => line },
    selection: new Selection(new Position(0, 0), new Position(0, 0)),
    revealRange: () => undefined,
  };
}

/** A list that the person types into first, and then chooses from. */
class QuickPick {
  items: readonly Item[] = [];
  value = "";
  selectedItems: readonly Item[] = [];
  private readonly typed = new EventEmitter<string>();
  private readonly accepted = new EventEmitter<void>();
  private readonly hidden = new EventEmitter<void>();
  readonly onDidChangeValue = this.typed.event;
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  show(): void {
    this.value = person.typed;
    if (!person.isFast) {
      this.typed.fire(person.typed);
    }
    const chosen = person.choose(this.items);
    this.selectedItems = chosen ? [chosen] : [];
    if (chosen || person.isFast) {
      this.accepted.fire();
    } else {
      this.hide();
    }
  }
  hide(): void {
    this.hidden.fire();
  }
  dispose(): void {
    this.hidden.dispose();
  }
}

const activeChanged = new EventEmitter<unknown>();

export const window = {
  activeTextEditor: undefined as ReturnType<typeof editorOver> | undefined,
  activeChanged,
  onDidChangeActiveTextEditor: activeChanged.event,
  onDidChangeTextEditorSelection: noEvent,
  showTextDocument: async (uri: { toString(): string }) => {
    window.activeTextEditor = editorOver(uri);
    return window.activeTextEditor;
  },
  createTreeView: () => {
    trees.last = new TreeView();
    return trees.last;
  },
  createStatusBarItem: () => ({
    set text(said: string) {
      sent.push(said);
    },
    show: () => undefined,
    hide: () => undefined,
    dispose: () => undefined,
  }),
  tabGroups: {
    get all() {
      return [{ tabs: tabs.inputs.map((input) => ({ input })) }];
    },
    onDidChangeTabs: tabs.changed.event,
    onDidChangeTabGroups: noEvent,
  },
  get visibleTextEditors() {
    return person.sees.map((uri) => ({ document: { uri: Uri.parse(uri) } }));
  },
  get state() {
    return { focused: person.isFocused };
  },
  showInformationMessage: async (said: string) => void person.told.push(said),
  showInputBox: async () => person.typed,
  createQuickPick: () => new QuickPick(),
  showQuickPick: async (items: readonly Item[]) => person.choose(items),
  showErrorMessage: async (said: string) => void person.told.push(said),
  showWarningMessage: async (said: string) => void person.told.push(said),
};

interface Document {
  uri: { toString(): string };
  isDirty: boolean;
}

/** What VS Code tells of documents. */
export const documents = {
  willSave: new EventEmitter<{ document: Document }>(),
  didChange: new EventEmitter<{ document: Document }>(),
  didSave: new EventEmitter<Document>(),
  didClose: new EventEmitter<Document>(),
};

export const languages = { registerCodeLensProvider: () => ({ dispose: () => undefined }) };

export const workspace = {
  textDocuments: [] as { uri: { toString(): string } }[],
  onWillSaveTextDocument: documents.willSave.event,
  onDidSaveTextDocument: documents.didSave.event,
  onDidCloseTextDocument: documents.didClose.event,
  asRelativePath: (uri: { toString(): string } | string) => uri.toString().split("/").at(-1),
  fs: { stat: async () => ({}) },
  onDidChangeTextDocument: documents.didChange.event,
  getConfiguration: (section: string, scope: unknown) => ({
    get: (name: string, otherwise?: unknown) => {
      person.settings.set(`${section}.${name}`, scope);
      return settings.get(`${section}.${name}`) ?? otherwise;
    },
  }),
};
