package policy

import (
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// MerchantCategoryCodes handles GET /policy/mccodes.
func (s *Policies) MerchantCategoryCodes(c *exchange.Call) exchange.Response {
	return exchange.Paged(c, categoryCodes(), wire.AppendJSON[merchantCategory])
}

type merchantCategory struct {
	Code        int64  `json:"code"`
	Description string `json:"description"`
}

// categoryCodes is a selection of ISO 18245, including codes with leading zeros.
func categoryCodes() []merchantCategory {
	return []merchantCategory{
		{742, "Veterinary services"}, {763, "Agricultural co-operatives"}, {780, "Landscaping and horticultural services"},
		{1520, "General contractors"}, {1711, "Heating, plumbing and air conditioning contractors"}, {1731, "Electrical contractors"},
		{2741, "Publishing and printing"}, {3000, "Airlines"}, {3351, "Car rental"}, {3501, "Hotels"},
		{4111, "Commuter transport"}, {4112, "Passenger railways"}, {4121, "Taxicabs and limousines"}, {4131, "Bus lines"},
		{4214, "Freight carriers and trucking"}, {4511, "Airlines and air carriers"}, {4722, "Travel agencies"}, {4784, "Tolls and bridge fees"},
		{4814, "Telecommunication services"}, {4816, "Computer network services"}, {4829, "Money transfer"}, {4899, "Cable and pay television"},
		{4900, "Utilities"}, {5045, "Computers and software"}, {5111, "Stationery and office supplies"}, {5200, "Home supply warehouses"},
		{5211, "Building materials"}, {5251, "Hardware stores"}, {5310, "Discount stores"}, {5311, "Department stores"},
		{5331, "Variety stores"}, {5411, "Grocery stores and supermarkets"}, {5422, "Butchers"}, {5441, "Confectionery"},
		{5462, "Bakeries"}, {5499, "Convenience stores"}, {5511, "Car dealers"}, {5541, "Service stations"},
		{5542, "Automated fuel dispensers"}, {5621, "Women's clothing"}, {5651, "Family clothing"}, {5661, "Shoe stores"},
		{5712, "Furniture stores"}, {5722, "Household appliances"}, {5732, "Electronics stores"}, {5734, "Computer software stores"},
		{5812, "Restaurants"}, {5813, "Bars and night clubs"}, {5814, "Fast food restaurants"}, {5912, "Pharmacies"},
		{5921, "Liquor stores"}, {5941, "Sporting goods"}, {5942, "Book stores"}, {5944, "Jewellery stores"},
		{5945, "Hobby and toy shops"}, {5977, "Cosmetic stores"}, {5993, "Tobacconists"}, {5999, "Miscellaneous retail"},
		{6010, "Manual cash disbursement"}, {6011, "Automated cash disbursement"}, {6012, "Financial institutions"}, {6051, "Quasi cash"},
		{6300, "Insurance"}, {6513, "Real estate agents"}, {7011, "Lodging"}, {7230, "Beauty and barber shops"},
		{7299, "Personal services"}, {7399, "Business services"}, {7512, "Car rental agencies"}, {7523, "Parking"},
		{7538, "Car service shops"}, {7832, "Cinemas"}, {7922, "Theatrical producers and ticket agencies"}, {7995, "Betting and casino gambling"},
		{7997, "Sports and country clubs"}, {7999, "Recreation services"}, {8011, "Doctors"}, {8021, "Dentists"},
		{8062, "Hospitals"}, {8211, "Schools"}, {8220, "Universities"}, {8299, "Educational services"},
		{8398, "Charities"}, {8999, "Professional services"}, {9311, "Tax payments"}, {9399, "Government services"},
		{9402, "Postal services"},
	}
}
