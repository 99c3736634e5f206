// sim: the discrete-event kernel and its actors; real policy code on imagined time. Pure.

export { Calendar } from './sim/calendar.ts';
export { type EventHandler, Kernel } from './sim/kernel.ts';
export { type StationChange, type StoryLine, storyOf, type StoryOptions } from './sim/story.ts';
export { simulate, type SimulatedPhase, type SimulateOptions } from './sim/simulate.ts';
export { simulationOf } from './sim/parts.ts';
export { type Player, Simulation, type SimulationOptions } from './sim/simulation.ts';
export { eventNames } from './sim/world.ts';
export { clientFacts, gatewayFacts, serviceFacts, zoneFacts } from './sim/topology-facts.ts';
