// The outcome as one page that needs nothing else: no script, no font, no network. It begins with the verdict, because a page
// is read from above; then the pictures, the audit with each prediction drawn beside what was seen, and all the numbers.

import { type Duration, formatDuration } from '../base.ts';
import type { AuditRow, Diagnosis, LoadLineFacts, PhaseSummary, TheorySummary } from '../diagnose.ts';
import type { EventLine, LedgerLine, RunRecord, TickLine } from '../record.ts';
import { inFlightChart, latencyChart, linesMax, rateChart, replicaCount } from './chart.ts';
import { html, type Markup, trusted } from './html.ts';
import type { Outcome } from './outcome.ts';
import { loadLinePicture } from './load-line-picture.ts';
import { hullOfFacts, safeLoadSentence } from './load-line-text.ts';
import { ledgersOf } from './outcome.ts';
import { pageStyle } from './page-style.ts';
import { machineText } from './record-text.ts';
import { phaseFigures, replicaCells, replicaTitles } from './phase-figures.ts';
import { auditStrip } from './strip.ts';

/** Of a large fleet the tables show so many replicas, and say so. */
const rowsMax = 40;
const eventsMax = 200;

/** An HTML document. */
export function resultPage(outcome: Outcome): string {
  const { diagnosis, record } = outcome;
  const { pattern, culprit } = diagnosis.verdict;
  const name = culprit === undefined ? pattern : `${pattern}: ${culprit}`;
  const title = record === undefined ? name : `${record.header.scenario}, ${name}`;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${trusted(pageStyle)}
        </style>
      </head>
      <body>
        ${verdictPart(diagnosis, name)} ${limitsPart(outcome.limits)} ${picturesPart(record)} ${auditPart(diagnosis)}
        ${
          diagnosis.phases.length === 0
            ? undefined
            : html`<h2>The phases in numbers</h2>
                ${diagnosis.phases.map(phasePart)}`
        }
        ${objectivesPart(outcome)} ${ledgerPart(ledgersOf(record))} ${checksPart(diagnosis)}
        ${eventsPart(record?.events ?? [])} ${sourcesPart(outcome)}
      </body>
    </html> `;
  return page.markup;
}

type Mood = 'good' | 'bad' | 'odd';

function moodOf(pattern: string): Mood {
  if (pattern === 'healthy' || pattern === 'benign-accept-order') return 'good';
  return pattern === 'undecided' ? 'odd' : 'bad';
}

function verdictPart({ verdict, load_line: line }: Diagnosis, name: string): Markup {
  const { pattern, confidence, basis, sentence, arithmetic, fix, missing, simultaneous = [] } = verdict;
  return html`<header class="${moodOf(pattern)}">
    <h1>${name}</h1>
    <p class="faint">
      confidence ${confidence.toFixed(2)}${basis === 'configured' ? ', from the settings alone: no harm was seen' : ''}
    </p>
    <p>${sentence}</p>
    ${
      arithmetic.length === 0
        ? undefined
        : html`<ul>
            ${arithmetic.map((one) => html`<li>${one}</li>`)}
          </ul>`
    }
    <p class="fix"><b>What to do:</b> ${fix}</p>
    ${line === undefined ? undefined : loadLinePart(line)}
    ${missing === undefined ? undefined : html`<p><b>Would decide:</b> ${missing}</p>`}
    ${simultaneous.map((other) => html`<p><b>Besides, ${other.pattern}:</b> ${other.sentence}</p>`)}
  </header>`;
}

/** The load line with what it rests on. */
function loadLinePart(line: LoadLineFacts): Markup {
  if (line.kind === 'none') return html`<p>${safeLoadSentence(line)}</p>`;
  return html`<p>${safeLoadSentence(line)}</p>
    <figure>${trusted(loadLinePicture('The load line', hullOfFacts(line)))}</figure>
    <ul>
      ${line.arithmetic.map((one) => html`<li>${one}</li>`)}
    </ul>`;
}

function limitsPart(limits: readonly string[]): Markup | undefined {
  if (limits.length === 0) return undefined;
  return html`<h2>Limits of this machine that were reached</h2>
    <ul>
      ${limits.map((limit) => html`<li>${limit}</li>`)}
    </ul>`;
}

function picturesPart(record: RunRecord | undefined): Markup | undefined {
  const ticks = (record?.phases ?? []).flatMap((phase) => phase.ticks);
  if (ticks.length < 2) return undefined;
  const count = replicaCount(ticks);
  const few = count > linesMax ? `the ${linesMax} of ${count} replicas that reached highest` : undefined;
  const waited = ticks.some((tick) => tick.clients.some((clients) => clients.latency !== undefined));
  return html`<h2>What happened</h2>
    ${picture(inFlightChart, 'Requests in flight in each replica', ticks, few)}
    ${picture(rateChart, 'Answers of each replica', ticks, few)}
    ${waited ? picture(latencyChart, 'How long the clients waited', ticks, 'from when a request was due; an unfinished one counts as a lower bound') : undefined}`;
}

function picture(
  draw: (input: { title: string; ticks: readonly TickLine[] }) => string,
  title: string,
  ticks: readonly TickLine[],
  caption: string | undefined,
): Markup {
  const below = caption === undefined ? undefined : html`<figcaption>${caption}</figcaption>`;
  return html`<figure>${trusted(draw({ title, ticks }))}${below}</figure>`;
}

const standings: readonly TheorySummary['standing'][] = ['established', 'possible', 'refuted', 'untestable'];
const moodOfStanding = { established: 'good', possible: 'odd', refuted: 'bad', untestable: 'odd' } as const;
const moodOfResult = { supports: 'good', contradicts: 'bad', untestable: 'odd' } as const;

/** All of it: the standing theories open, the others one click away. */
function auditPart({ audit, theories }: Diagnosis): Markup | undefined {
  if (theories.length === 0) return undefined;
  const sorted = theories.toSorted((one, other) => standings.indexOf(one.standing) - standings.indexOf(other.standing));
  return html`<h2>The audit</h2>
    <p class="faint">
      Each theory said beforehand what it would see. <span class="key"></span> is what it predicted, the mark what was
      observed.
    </p>
    ${sorted.map((theory) =>
      theoryPart(
        theory,
        audit.filter((row) => row.theory === theory.theory),
      ),
    )}`;
}

function theoryPart(theory: TheorySummary, rows: readonly AuditRow[]): Markup {
  const { standing, title, reason } = theory;
  const telling = rows.toSorted((one, other) => weight(one, standing) - weight(other, standing));
  return html`<details${trusted(standing === 'established' ? ' open' : '')}>
<summary><span class="standing ${moodOfStanding[standing]}">${standing}</span><b>${title}</b></summary>
<p class="faint">${reason}</p>
${
  rows.length === 0
    ? undefined
    : html`<div class="scroll">
        <table>
          <thead>
            <tr>
              <th>claim</th>
              <th>predicted</th>
              <th>observed</th>
              <th></th>
              <th>verdict</th>
            </tr>
          </thead>
          <tbody>
            ${telling.map(claimRow)}
          </tbody>
        </table>
      </div>`
}
</details>`;
}

/** Of a refuted theory what refuted it comes first. */
function weight(row: AuditRow, standing: TheorySummary['standing']): number {
  return standing === 'refuted' && row.result === 'contradicts' ? 0 : 1;
}

function claimRow(row: AuditRow): Markup {
  const where =
    row.phase === 'baseline' || row.phase === 'incident'
      ? undefined
      : html` <span class="faint">in ${row.phase}</span>`;
  const strip = auditStrip(row);
  const seen = row.observed?.text ?? (row.missing === undefined ? '' : `needs ${row.missing}`);
  const files = (row.origins ?? [])
    .slice(0, 3)
    .map(({ file, line }) => (line === undefined ? file : `${file}:${line}`));
  return html`<tr>
    <td>
      ${row.claim}${where}${files.length === 0 ? undefined : html`<br /><span class="faint">${files.join(', ')}</span>`}
    </td>
    <td class="said">${row.predicted?.text}</td>
    <td class="said">${seen}</td>
    <td>${strip === undefined ? undefined : trusted(strip)}</td>
    <td class="result ${moodOfResult[row.result]}">${row.result}</td>
  </tr>`;
}

function phasePart(phase: PhaseSummary): Markup {
  const left = phase.replicas.length - rowsMax;
  const did = phase.experiment === undefined ? '' : `; ${phase.experiment}`;
  return html`<h3>${phase.phase} <span class="faint">${phaseFigures(phase)}${did}</span></h3>
    ${table(replicaTitles, phase.replicas.slice(0, rowsMax).map(replicaCells), 1)}
    ${left > 0 ? html`<p class="faint">and ${left} more</p>` : undefined}`;
}

function objectivesPart({ objectives }: Outcome): Markup | undefined {
  if (objectives.length === 0) return undefined;
  const rows = objectives.map((one) => [
    one.metric,
    one.expression,
    one.observed === undefined ? 'not observed' : one.observed.toPrecision(4),
    one.met ? 'met' : 'not met',
  ]);
  return html`<h2>Objectives</h2>
    ${table(['objective', 'wanted', 'observed', ''], rows, 4)}`;
}

const fates = ['planned', 'answered', 'failed', 'timed_out', 'refused', 'in_flight_at_end', 'never_sent'] as const;

const ledgersMax = 100;

function ledgerPart(ledgers: readonly LedgerLine[]): Markup | undefined {
  if (ledgers.length === 0) return undefined;
  const rows = ledgers
    .slice(0, ledgersMax)
    .map((ledger) => [ledger.phase, ledger.group, ...fates.map((fate) => String(ledger[fate]))]);
  return html`<h2>Where every planned request went</h2>
    ${table(['phase', 'clients', ...fates.map((fate) => fate.replaceAll('_', ' '))], rows, 2)}
    ${ledgers.length > ledgersMax ? html`<p class="faint">and ${ledgers.length - ledgersMax} more in the record</p>` : undefined}`;
}

function checksPart({ checks }: Diagnosis): Markup | undefined {
  if (checks.length === 0) return undefined;
  const name = (law: string): string => (law === 'little' ? 'Little’s law' : 'utilisation law');
  const rows = checks.map((check) => [name(check.law), check.of, check.text, check.holds ? 'holds' : 'does not hold']);
  return html`<h2>Laws that any measurement must obey, held against this one</h2>
    ${table(['law', 'of', 'both sides', ''], rows, 4)}`;
}

function eventsPart(events: readonly EventLine[]): Markup | undefined {
  if (events.length === 0) return undefined;
  const rows = events
    .slice(0, eventsMax)
    .map((event) => [formatDuration(event.at_ns as Duration), event.event, event.target ?? '', event.detail ?? '']);
  const left = events.length - eventsMax;
  return html`<h2>Events</h2>
    ${table(['at', 'event', 'who', ''], rows, 4)}
    ${left > 0 ? html`<p class="faint">and ${left} more in the record</p>` : undefined}`;
}

/** What it all rests on: the machine and the fleet of a run, the files of an incident. */
function sourcesPart({ record, sources = [], file }: Outcome): Markup {
  const facts: (readonly [string, string])[] = [];
  if (record !== undefined) {
    const { header, topology } = record;
    facts.push(
      ['scenario', `${header.scenario}, ${header.world}${header.seed === undefined ? '' : `, seed ${header.seed}`}`],
      ['started', header.started_at],
      ['machine', machineText(header.environment)],
    );
    if (topology.gateway !== undefined) {
      const { program, version, policy } = topology.gateway;
      facts.push(['gateway', [program, version, policy].filter((one) => one !== undefined).join(' ')]);
    }
  }
  if (file !== undefined) facts.push(['record', file]);
  for (const source of sources) {
    facts.push([source.file, `${source.format}, ${source.understood} of ${source.lines} lines understood`]);
  }
  if (facts.length === 0) return html``;
  return html`<h2>What it rests on</h2>
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>`;
}

/** The first `texts` columns are words, the others numbers. */
function table(titles: readonly string[], rows: readonly (readonly string[])[], texts: number): Markup {
  const kind = (index: number): Markup => trusted(index < texts ? '' : ' class="number"');
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${titles.map((title, index) => html`<th${kind(index)}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, index) => html`<td${kind(index)}>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
