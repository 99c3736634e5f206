// sim: a scenario in imagined time, with the policies that the gateway runs. Pure. Not written yet.

export {};
