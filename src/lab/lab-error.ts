// What an operator must be told when the lab cannot do what was asked: which program, what it said, what to do.

export class LabError extends Error {
  override readonly name = 'LabError';
}
