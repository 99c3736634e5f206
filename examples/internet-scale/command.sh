wrk -t8 -c4000 -d5m -H 'Connection: close' http://203.0.113.80/
