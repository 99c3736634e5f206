// The name of an option as a person writes it, from the key under which commander hands it over.

/** `untilRelativeError` → `--until-relative-error`. */
export const flagName = (key: PropertyKey | undefined): string =>
  `--${String(key).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
