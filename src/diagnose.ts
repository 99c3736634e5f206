// diagnose: theories, what each predicts, the audit, the verdict, the next experiment. Pure; sees records only.

export { type AuditRow, type Result, type Standing, type TheorySummary } from './diagnose/audit.ts';
export { complaints, type DataCheck } from './diagnose/checks.ts';
export { type Diagnosis, diagnose, type Verdict } from './diagnose/diagnose.ts';
export type { LoadLineFacts } from './diagnose/load-line.ts';
export { type PlannedExperiment, planExperiments } from './diagnose/plan.ts';
export type { SeenPhase, SeenRecord } from './diagnose/seen.ts';
export { type PhaseSummary, type ReplicaSummary } from './diagnose/summary.ts';
export { theories } from './diagnose/theories.ts';
export type { Bearing, Pattern, Slug, Theory, TheorySlug } from './diagnose/theory.ts';
export { diagnoseDossier } from './diagnose/dossier/judge.ts';
export { dossierRemarks } from './diagnose/dossier/remarks.ts';
export {
  type ComparedRun,
  type ComparedSide,
  type Comparison,
  falseRejections,
  judgeRelease,
  type Mechanism,
  type ObjectiveCompared,
  type ReleaseVerdict,
} from './diagnose/compare/release.ts';
export type { Effect, FigureKind } from './diagnose/compare/effect.ts';
export { together } from './diagnose/dossier/together.ts';
export type { DossierSlug } from './diagnose/dossier/slugs.ts';
export { dossierTheories } from './diagnose/dossier/theories.ts';
export type { DossierTheory } from './diagnose/dossier/theory.ts';
export { catalogue, catalogueMarkdown, explainTheory, pagesOf, type TheoryPage } from './diagnose/catalogue.ts';
export { preflight, type Preflight, type PreflightFacts } from './diagnose/preflight/preflight.ts';
export { type Finding, type RuleName, ruleNames, type Severity } from './diagnose/preflight/rule.ts';
export { preflightRules } from './diagnose/preflight/rules.ts';
export { preflightScenario, ruleOfUnsafe } from './diagnose/preflight/scenario.ts';
