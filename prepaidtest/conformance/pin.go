package conformance

// pinCases send only requests that must be refused: a PIN change is final, and the reference shows neither its statuses nor bodies.
func pinCases() []Case {
	refuse := func(operation string, body map[string]any) Case {
		return with("4.7", operation+"_is_refused", "POST /pin/"+operation, func(p *probe) {
			p.post("pin/"+operation, body).refusedAs([]int{400, 404})
		})
	}
	sealed := map[string]any{
		"device_id": "conformance", "ip_address": "192.0.2.1", "operation_id": unknownUUID, "encrypted_data": "00",
		"public_key_fingerprint": "00", "encrypted_key": "00", "oaep_hashing_algorithm": "SHA256", "iv": "00",
	}
	return []Case{
		refuse("initiate", map[string]any{
			"eaid": noAccount, "device_id": "conformance", "ip_address": "192.0.2.1", "communication_method": "sms",
		}),
		refuse("validate", sealed), refuse("execute", sealed),
	}
}
