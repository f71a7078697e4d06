package conformance

// pinCases send requests that must be refused: the reference shows neither statuses nor bodies, and PIN changes are final.
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
