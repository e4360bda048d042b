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
  told: [] as string[],
  settings: new Map<string, unknown>(),
};

export const window = {
  tabGroups: {
    get all() {
      return [{ tabs: tabs.inputs.map((input) => ({ input })) }];
    },
    onDidChangeTabs: tabs.changed.event,
  },
  showQuickPick: async (items: readonly Item[]) => person.choose(items),
  showErrorMessage: async (said: string) => void person.told.push(said),
  showWarningMessage: async (said: string) => void person.told.push(said),
};

export const workspace = {
  onDidChangeTextDocument: new EventEmitter<void>().event,
  getConfiguration: (section: string, scope: unknown) => ({
    get: (name: string, otherwise?: unknown) => {
      person.settings.set(`${section}.${name}`, scope);
      return otherwise;
    },
  }),
};
