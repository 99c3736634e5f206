// JUnit XML, as every pipeline reads it: one suite, cases that passed, failed, could not be judged (`error`) or were skipped.

export interface JunitCase {
  readonly name: string;
  /** How it ended, where that is not well: the first line of `why` is the message, all of it the text. */
  readonly end?: { readonly kind: 'failure' | 'error' | 'skipped'; readonly why: string };
}

export interface JunitSuite {
  readonly name: string;
  /** Groups cases in most viewers. */
  readonly className: string;
  readonly seconds?: number;
  readonly cases: readonly JunitCase[];
  /** Shown beside the cases. */
  readonly output?: string;
}

/** One document, with its declaration. */
export function junitText(suite: JunitSuite): string {
  const counts = `tests="${suite.cases.length}" failures="${count(suite, 'failure')}" errors="${count(suite, 'error')}" skipped="${count(suite, 'skipped')}"`;
  const time = suite.seconds === undefined ? '' : ` time="${suite.seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}${time}>`,
    `  <testsuite name="${attribute(suite.name)}" ${counts}${time}>`,
    ...suite.cases.flatMap((each) => caseLines(suite.className, each)),
    ...(suite.output === undefined ? [] : [`    <system-out>${text(suite.output)}</system-out>`]),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const count = ({ cases }: JunitSuite, kind: string): number => cases.filter(({ end }) => end?.kind === kind).length;

function caseLines(className: string, { name, end }: JunitCase): readonly string[] {
  const open = `    <testcase classname="${attribute(className)}" name="${attribute(name)}"`;
  if (end === undefined) return [`${open}/>`];
  const message = `<${end.kind} message="${attribute(end.why.split('\n')[0] ?? '')}"`;
  const inner = end.kind === 'skipped' ? `${message}/>` : `${message}>${text(end.why)}</${end.kind}>`;
  return [`${open}>`, `      ${inner}`, '    </testcase>'];
}

/** XML 1.0 has no way to say most control characters. */
function text(value: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is to be taken out
  const sayable = value.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
  return sayable.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const attribute = (value: string): string => text(value).replaceAll('"', '&quot;');
