module pinned

go 1.26.0

require (
	github.com/mercadopago/sdk-go v1.8.0
	github.com/midtrans/midtrans-go v1.3.8
)

require github.com/google/uuid v1.5.0 // indirect
