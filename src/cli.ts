// cli: the command line. Its door offers nothing, since nobody imports it; `cli/main.ts` is started, not imported.

export {};
