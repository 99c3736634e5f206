// A certificate for tests, signed by itself, for `shop.test` and `localhost` and no address, good for a hundred years. Its key is
// public: it protects nothing.

export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgqTKTSRgQeRd2j7Ps
hZ84TFGSmvB4dCPFiJaoRBBUtayhRANCAARrcikqZyEQuEAoGGspKEeKk4E2SxUN
9kl4bbgDKUX/E/8iepc8fiq1dyJybM9lBUKghxoTm2m5c+Tf3n9VJ6Gk
-----END PRIVATE KEY-----
`;

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBoDCCAUagAwIBAgIUByk8kgM/D+VhmPlp6VDU19dBZe4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJc2hvcC50ZXN0MCAXDTI2MTEzMDA5MzA0MVoYDzIxMjYxMTA2
MDkzMDQxWjAUMRIwEAYDVQQDDAlzaG9wLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARrcikqZyEQuEAoGGspKEeKk4E2SxUN9kl4bbgDKUX/E/8iepc8fiq1
dyJybM9lBUKghxoTm2m5c+Tf3n9VJ6Gko3QwcjAdBgNVHQ4EFgQUrC74qOp3txjQ
xa4xRTGD8XQARu8wHwYDVR0jBBgwFoAUrC74qOp3txjQxa4xRTGD8XQARu8wDwYD
VR0TAQH/BAUwAwEB/zAfBgNVHREEGDAWgglzaG9wLnRlc3SCCWxvY2FsaG9zdDAK
BggqhkjOPQQDAgNIADBFAiEA7Wja02zW/eZFMy1fJk2Cv+AKiEzcNjUofBZayA7s
dFACIB1ZvjZKnzH1sZjS9JnOq9E4KolAGwU/rQXQqWgaswW7
-----END CERTIFICATE-----
`;
