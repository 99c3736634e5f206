// Colour as an argument: the terminal hands in escape codes, a file or a test hands in nothing. Colour never says anything
// that the words do not.

export interface Paint {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly odd: (text: string) => string;
}

const same = (text: string): string => text;

export const plain: Paint = { strong: same, faint: same, good: same, bad: same, odd: same };
