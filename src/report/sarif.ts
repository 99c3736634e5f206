// Findings as SARIF 2.1.0, the form in which editors and code hosts show what a check found at the line where it stands.

import type { Finding, Preflight } from '../diagnose.ts';
import { preflightRules } from '../diagnose.ts';

const levels = { error: 'error', warning: 'warning', note: 'note' } as const;

/** One run of one tool. Files are told relative, with forward slashes. */
export function sarif(result: Preflight, version: string): unknown {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'plimsoll',
            semanticVersion: version,
            rules: preflightRules.map(({ name, holds, because }) => ({
              id: name,
              name: name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase()),
              shortDescription: { text: holds },
              fullDescription: { text: because },
              defaultConfiguration: { level: 'warning' },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: result.findings.map(resultOf),
      },
    ],
  };
}

function resultOf(finding: Finding): unknown {
  const { rule, severity, where, also, because, instead } = finding;
  return {
    ruleId: rule,
    ruleIndex: preflightRules.findIndex(({ name }) => name === rule),
    level: levels[severity],
    message: { text: `${because}. Right would be: ${instead}.` },
    locations: [locationOf(where)],
    ...(also.length === 0
      ? {}
      : { relatedLocations: also.map((place, index) => ({ id: index, ...locationOf(place) })) }),
  };
}

function locationOf({ file, line }: Finding['where']): { physicalLocation: unknown } {
  const uri = file.replaceAll('\\', '/').replace(/^\.\//, '').split('/').map(encodeURIComponent).join('/');
  return { physicalLocation: { artifactLocation: { uri }, region: { startLine: line ?? 1 } } };
}
