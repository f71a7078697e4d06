module github.com/cardprograms/prepaid/examples/apps

go 1.26.0

require (
	github.com/cardprograms/prepaid v0.0.0
	github.com/cardprograms/prepaid/contrib/postgres v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	golang.org/x/sync v0.22.0
	golang.org/x/term v0.47.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/govalues/decimal v0.1.36 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/mattn/go-isatty v0.0.22 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.41.0 // indirect
)

replace github.com/cardprograms/prepaid => ../..

replace github.com/cardprograms/prepaid/contrib/postgres => ../../contrib/postgres
