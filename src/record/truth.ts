// What was really injected: a file of its own, next to the record. The scorer in `bench` opens it; `diagnose` never does.

export interface Truth {
  readonly format: 'plimsoll-truth';
  readonly version: 1;
  readonly record: string;
  readonly pattern: string | undefined;
  readonly culprit: string | undefined;
  readonly faults: readonly unknown[];
}
