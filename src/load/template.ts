// A text with variables in it, such as `/cart/${id}`, cut up once so that filling it in is joining pieces.

const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export interface Template {
  /** Names of the variables, each once. Empty: the text is the same each time. */
  readonly variables: readonly string[];
  /** The text with every variable replaced, or undefined when one of them is unknown. */
  filledWith(variables: ReadonlyMap<string, string>): string | undefined;
}

export function template(text: string): Template {
  // Splitting at a pattern with a group gives texts and names in turn: text, name, text, …, text.
  const pieces = text.split(placeholder);
  const names = pieces.filter((_, index) => index % 2 === 1);
  return {
    variables: [...new Set(names)],
    filledWith(variables) {
      let filled = '';
      for (const [index, piece] of pieces.entries()) {
        const next = index % 2 === 0 ? piece : variables.get(piece);
        if (next === undefined) return undefined;
        filled += next;
      }
      return filled;
    },
  };
}

/** A text that stays as it is, whatever is in it. */
export const literal = (text: string): Template => ({ variables: [], filledWith: () => text });
