// What the diagnosis asks of a record: the settings, and phase by phase the ticks. Any view that has these fields will do.

import type { EventLine, PhaseLine, TickLine, TopologyLine } from '../record.ts';

export interface SeenRecord {
  readonly topology?: TopologyLine | undefined;
  readonly phases: readonly SeenPhase[];
}

export interface SeenPhase {
  readonly line: PhaseLine;
  readonly events: readonly EventLine[];
  readonly ticks: readonly TickLine[];
}
